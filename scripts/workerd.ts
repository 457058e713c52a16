import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { Bundle } from "./bundle.ts";
import type { DataDirectory } from "./data-directory.ts";
import { Refusal } from "./refusal.ts";

export interface ServerSettings {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** Plain values the Worker sees. */
  variables: Record<string, string>;
  /** Names of environment variables the Worker sees; their values are written nowhere. */
  fromEnvironment: string[];
  /** Whom `fetch` of the Worker may reach, in workerd's words. */
  reachable: string[];
  /** More options of `workerd serve`, for those who look into it. */
  options?: string[];
}

export interface Server {
  pid: number;
  /** The port it listens on; rejects if it ends before. */
  listening: Promise<number>;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  kill(signal: NodeJS.Signals): void;
}

/** The package says where the binary for this platform lies. */
const WORKERD = (createRequire(import.meta.url)("workerd") as { default: string }).default;

/**
 * Becomes workerd after three things: it writes its pid, it raises the limit of open files (a live
 * object holds about three), and it leaves a guard behind that kills it as soon as the launcher's
 * end of the pipe closes without a word, that is, when the launcher is gone.
 */
const BECOME_WORKERD = `
echo $$ > "$1"; shift
for files in 1048576 262144 65536 "$(ulimit -H -n)" 16384 10240; do ulimit -n "$files" 2>/dev/null && break; done
files=$(ulimit -n)
if [ "$files" != unlimited ] && [ "$files" -lt 4096 ]; then
  echo "Only $files open files are allowed (ulimit -n); expect errors above $((files / 4)) actors at work." >&2
fi
exec 4<&0
( read -r word || kill -9 $$ 2>/dev/null ) <&4 4<&- 3>&- &
exec "$@" </dev/null 4<&-
`;

export function startWorkerd(
  bundle: Bundle,
  data: DataDirectory,
  keys: Record<string, string>,
  settings: ServerSettings,
): Server {
  writeFileSync(data.config, configuration(bundle, data, keys, settings), { mode: 0o600 });
  const options = [
    "--control-fd=3",
    `--directory-path=disk=${data.objects}`,
    ...(settings.options ?? []),
  ];
  const child = spawn(
    "/bin/sh",
    ["-c", BECOME_WORKERD, "sh", data.serverPid, WORKERD, "serve", ...options, data.config],
    {
      // workerd warns when PWD is not where it is.
      cwd: data.path,
      env: { ...process.env, PWD: data.path },
      stdio: ["pipe", 2, 2, "pipe"],
      // Ctrl-C reaches the launcher only, which then stops the server in order.
      detached: true,
    },
  );
  const lifeline = child.stdin as Writable;
  lifeline.on("error", () => {});
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once("exit", (code, signal) => {
      lifeline.end("ended\n");
      resolve({ code, signal });
    });
  });
  return {
    pid: child.pid ?? 0,
    listening: portOf(child.stdio[3] as Readable, exited),
    exited,
    kill: (signal) => void child.kill(signal),
  };
}

async function portOf(control: Readable, exited: Promise<unknown>): Promise<number> {
  const listening = (async () => {
    for await (const line of createInterface({ input: control })) {
      const message = JSON.parse(line) as { event: string; port?: number };
      if (message.event === "listen" && message.port !== undefined) return message.port;
    }
    return exited;
  })();
  const port = await listening;
  if (typeof port !== "number") throw new Refusal("The server ended before it listened.");
  return port;
}

function configuration(
  bundle: Bundle,
  data: DataDirectory,
  keys: Record<string, string>,
  settings: ServerSettings,
): string {
  const embed = (name: string) =>
    `embed ${text(relative(data.path, join(bundle.directory, name)))}`;
  const modules = [
    `(name = ${text(bundle.main)}, esModule = ${embed(bundle.main)})`,
    ...bundle.modules.map((name) => `(name = ${text(name)}, ${kindOf(name)} = ${embed(name)})`),
  ];
  const namespaces = bundle.objects.map(
    ({ className }) =>
      `(className = ${text(className)}, uniqueKey = ${text(keys[className] ?? "")}, enableSql = true)`,
  );
  const bindings = [
    ...bundle.objects.map(
      ({ binding, className }) =>
        `(name = ${text(binding)}, durableObjectNamespace = ${text(className)})`,
    ),
    ...Object.entries(settings.variables).map(
      ([name, value]) => `(name = ${text(name)}, text = ${text(value)})`,
    ),
    ...settings.fromEnvironment.map(
      (name) => `(name = ${text(name)}, fromEnvironment = ${text(name)})`,
    ),
  ];
  return `# Written at every start.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "disk", disk = (writable = true)),
    (name = "outside", network = (
      allow = [${settings.reachable.map(text).join(", ")}],
      tlsOptions = (trustBrowserCas = true)
    ))
  ],
  sockets = [
    (name = "http", address = ${text(address(settings))}, http = (), service = "main")
  ]
);

const main :Workerd.Worker = (
  modules = [
    ${modules.join(",\n    ")}
  ],
  compatibilityDate = ${text(bundle.compatibilityDate)},
  compatibilityFlags = [${bundle.compatibilityFlags.map(text).join(", ")}],
  durableObjectNamespaces = [
    ${namespaces.join(",\n    ")}
  ],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [
    ${bindings.join(",\n    ")}
  ],
  globalOutbound = "outside"
);
`;
}

function address({ host, port }: ServerSettings): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function kindOf(module: string): string {
  if (module.endsWith(".wasm")) return "wasm";
  return module.endsWith(".bin") ? "data" : "text";
}

/** A string of Cap'n Proto's text format. */
function text(value: string): string {
  return JSON.stringify(value);
}
