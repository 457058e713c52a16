import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";

/**
 * The engine that Cloudflare ships for local use, in the Miniflare that comes with this project's Wrangler, and the
 * configuration of workerd that Miniflare would write for it. Wrangler itself takes no part.
 */
export function workflowsConfiguration(worker: {
  /** Where the configuration will lie: workerd finds files from there. */
  directory: string;
  /** The bundled Worker, which exports the class `LoanWorkflow`. */
  main: string;
  compatibilityDate: string;
  port: number;
}): string {
  const embed = (path: string) => `embed ${JSON.stringify(relative(worker.directory, path))}`;
  return `# Written at every start.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "engine", worker = .engine),
    (name = "disk", disk = (writable = true))
  ],
  sockets = [
    (name = "http", address = "127.0.0.1:${worker.port}", http = (), service = "main")
  ],
  extensions = [(modules = [
    (name = "workflows:binding", esModule = ${embed(engineFile("wrapped-binding.worker.js"))}, internal = true)
  ])]
);

const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = ${embed(worker.main)})],
  compatibilityDate = ${JSON.stringify(worker.compatibilityDate)},
  bindings = [
    (name = "LOANS", wrapped = (
      moduleName = "workflows:binding",
      innerBindings = [(name = "binding", service = (name = "engine", entrypoint = "WorkflowBinding"))]
    ))
  ]
);

const engine :Workerd.Worker = (
  modules = [(name = "workflows.mjs", esModule = ${embed(engineFile("binding.worker.js"))})],
  compatibilityDate = "2024-10-22",
  compatibilityFlags = ["experimental"],
  durableObjectNamespaces = [
    (className = "Engine", uniqueKey = "workflows-loan", enableSql = true, preventEviction = true)
  ],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [
    (name = "ENGINE", durableObjectNamespace = "Engine"),
    (name = "USER_WORKFLOW", service = (name = "main", entrypoint = "LoanWorkflow")),
    (name = "BINDING_NAME", json = "\\"LOANS\\""),
    (name = "WORKFLOW_NAME", json = "\\"loan\\"")
  ]
);
`;
}

export function miniflareVersion(): string {
  return (fromWrangler()("miniflare/package.json") as { version: string }).version;
}

function engineFile(name: string): string {
  return join(dirname(fromWrangler().resolve("miniflare")), "workers/workflows", name);
}

function fromWrangler(): NodeJS.Require {
  return createRequire(createRequire(import.meta.url).resolve("wrangler/package.json"));
}
