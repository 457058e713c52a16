import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { bundleWorker } from "./bundle.ts";
import { holdDataDirectory, uniqueKeys } from "./data-directory.ts";
import { openFilesAllowed, wakesPerSecond } from "./open-files.ts";
import { Refusal, runScript } from "./refusal.ts";
import type { ServeSettings } from "./serve-settings.ts";
import { readSettings, USAGE } from "./serve-settings.ts";
import type { Server } from "./workerd.ts";
import { startWorkerd } from "./workerd.ts";

const READY_MS = 30_000;
/** Requests under way get this long after SIGTERM; every acknowledged write is on disk anyway. */
const DRAIN_MS = 5_000;

await runScript(async () => {
  const settings = readSettings(process.argv.slice(2), process.env);
  if (settings === "help") return console.log(USAGE);

  const data = await holdDataDirectory(settings.persistTo);
  await refuseTakenPort(settings);
  const bundle = await bundleWorker();
  const keys = uniqueKeys(
    data,
    bundle.objects.map(({ className }) => className),
    settings.profile,
  );
  const fromEnvironment = settings.fromEnvironment.filter((name) => process.env[name]);
  const variables = { ...settings.variables };
  if (!fromEnvironment.includes("PERDURE_WAKES_PER_SECOND")) {
    variables["PERDURE_WAKES_PER_SECOND"] = String(wakesPerSecond(openFilesAllowed()));
  }
  const server = startWorkerd(bundle, data, keys, { ...settings, variables, fromEnvironment });
  const stopping = stopWhenAsked(server);
  endWithParent(server);

  const url = `http://${urlHost(settings.host)}:${await server.listening}`;
  await untilHealthy(url, server);
  console.log(`Perdure listening on ${url} (${settings.profile}, data in ${settings.persistTo})`);

  const { code, signal } = await server.exited;
  data.release();
  if (!stopping.asked) throw new Refusal(`The server ended by itself (${signal ?? code}).`);
});

function stopWhenAsked(server: Server): { asked: boolean } {
  const stopping = { asked: false };
  const stop = () => {
    const again = stopping.asked;
    stopping.asked = true;
    server.kill(again ? "SIGKILL" : "SIGTERM");
    setTimeout(() => server.kill("SIGKILL"), DRAIN_MS).unref();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return stopping;
}

async function untilHealthy(url: string, server: Server): Promise<void> {
  const ended = server.exited.then(() => "ended" as const);
  for (let waited = 0; waited < READY_MS; waited += 50) {
    const answer = await Promise.race([
      fetch(`${url}/v1/health`).then(
        ({ status }) => status,
        () => "silent" as const,
      ),
      ended,
    ]);
    if (answer === 200) return;
    if (answer === "ended") break;
    await sleep(50);
  }
  server.kill("SIGKILL");
  throw new Refusal("The server started, but /v1/health did not answer 200.");
}

/**
 * `kill -9` of npm takes nobody along: the server would go on and keep the directory and the port
 * from the next start. So it dies like its parent.
 */
function endWithParent(server: Server): void {
  if (process.env["npm_lifecycle_event"] === undefined) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid !== parent) server.kill("SIGKILL");
  }, 200);
  watch.unref();
}

/** workerd would say it in a stack of addresses. */
async function refuseTakenPort({ host, port }: ServeSettings): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        new Refusal(
          error.code === "EADDRINUSE"
            ? `Port ${port} on ${host} is in use. Choose another with --port, or 0 for a free one.`
            : `Cannot listen on ${host}:${port}: ${error.message}`,
        ),
      ),
    );
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}

function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
