import { bundleWorker } from "../scripts/bundle.ts";
import type { Bundle } from "../scripts/bundle.ts";
import { holdDataDirectory, uniqueKeys } from "../scripts/data-directory.ts";
import { startWorkerd } from "../scripts/workerd.ts";
import type { ServerSettings } from "../scripts/workerd.ts";
import type { Running } from "./target.ts";

type Worker = Pick<Bundle, "main" | "modules" | "objects" | "directory">;

/** Serves a Worker as the launcher serves Perdure: the same binary, configuration and flags. */
export async function startWorker(
  directory: string,
  worker: Worker,
  settings: Pick<Partial<ServerSettings>, "variables" | "options"> = {},
): Promise<Running> {
  const { compatibilityDate, compatibilityFlags } = await bundleWorker();
  const data = await holdDataDirectory(directory);
  const keys = uniqueKeys(
    data,
    worker.objects.map(({ className }) => className),
  );
  const bundle = { ...worker, compatibilityDate, compatibilityFlags };
  const loopback = {
    host: "127.0.0.1",
    port: 0,
    variables: {},
    fromEnvironment: [],
    reachable: [],
  };
  const server = startWorkerd(bundle, data, keys, { ...loopback, ...settings });
  const end = async () => {
    server.kill("SIGKILL");
    await server.exited;
    data.release();
  };
  try {
    return { url: `http://127.0.0.1:${await server.listening}`, pid: server.pid, end };
  } catch (error) {
    await end();
    throw error;
  }
}
