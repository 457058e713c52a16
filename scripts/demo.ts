// `npm run demo`: plays the examples on a server of its own and checks what it says.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../src/sdk/index.ts";
import type { Client } from "../src/sdk/index.ts";
import * as plays from "./demo-plays.ts";
import { chapter, fact } from "./demo-plays.ts";
import { startServer } from "./server.ts";
import type { RunningServer } from "./server.ts";

function connect({ url }: RunningServer): Client {
  return createClient({ baseUrl: url, apiKey: "dev" });
}

async function crash(server: RunningServer, data: string): Promise<RunningServer> {
  chapter("The server dies and comes back");
  const before = await connect(server).getActor("invoice-7");
  await server.kill("SIGKILL");
  const { signal } = await server.exited;
  fact("the server was killed with SIGKILL while invoice-7 waited", signal, "SIGKILL");
  const restarted = await startServer({ persistTo: data });
  console.log(`  … started again on the same data at ${restarted.url}`);
  const after = await connect(restarted).getActor("invoice-7");
  fact(`nothing was lost: it has the same ${after.seq} records`, after.seq, before.seq);
  fact("it stands in the same state, at the CFO", after.stateValue, before.stateValue);
  fact("it has the same context", after.context, before.context);
  fact("its three due times are the same", after.timers, before.timers);
  fact("so is everything else about it", after, before);
  return restarted;
}

async function play(data: string): Promise<void> {
  server = await startServer({ persistTo: data });
  console.log(`Perdure at ${server.url}, data in ${data}`);
  await plays.deployBoth(connect(server));
  await plays.playToCfo(connect(server));
  server = await crash(server, data);
  const client = connect(server);
  await plays.repeatOnce(client);
  await plays.remindAndBook(client);
  await plays.playLoans(client);
  await plays.replayAll(client);
  console.log(`\nAll ${plays.factsChecked()} facts hold.`);
}

let server: RunningServer | null = null;
const data = await mkdtemp(join(tmpdir(), "perdure-demo-"));

async function cleanUp(): Promise<void> {
  await server?.kill();
  await rm(data, { recursive: true, force: true });
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void cleanUp().then(() => process.exit(1)));
}

try {
  await play(data);
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await cleanUp();
}
