// `npm run demo`: plays the examples on a server of its own and checks what it says.
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startOutside } from "../examples/outside/server.ts";
import type { Outside } from "../examples/outside/server.ts";
import { createClient } from "../src/sdk/index.ts";
import type { Client } from "../src/sdk/index.ts";
import { finishOrder, playOrders } from "./demo-order.ts";
import * as plays from "./demo-plays.ts";
import { chapter, fact } from "./demo-plays.ts";
import { Refusal, runScript } from "./refusal.ts";
import { startServer } from "./server.ts";
import type { RunningServer } from "./server.ts";

const USAGE = `Usage: npm run demo

Plays the machines of examples/ on a server of its own, on a free port and in a temporary folder,
kills it in the middle, and prints one line for each fact it has checked. It takes no options.`;

/** The server that is starting or running now. */
let current: Promise<RunningServer> | null = null;
let outside: Outside | null = null;
let isStopping = false;
let data = "";

function start(): Promise<RunningServer> {
  if (isStopping) throw new Refusal("Stopped.");
  current = startServer({ persistTo: data });
  return current;
}

async function cleanUp(): Promise<void> {
  const server = await current?.catch(() => null);
  await server?.kill();
  outside?.stop();
  await rm(data, { recursive: true, force: true });
}

function connect({ url }: RunningServer): Client {
  return createClient({ baseUrl: url, apiKey: "dev" });
}

async function crash(server: RunningServer): Promise<RunningServer> {
  chapter("The server dies and comes back");
  const before = await connect(server).getActor("invoice-7");
  await server.kill("SIGKILL");
  const { signal } = await server.exited;
  fact("the server was killed with SIGKILL while invoice-7 waited", signal, "SIGKILL");
  const restarted = await start();
  console.log(`  … started again on the same data at ${restarted.url}`);
  const after = await connect(restarted).getActor("invoice-7");
  fact(`nothing was lost: it has the same ${after.seq} records`, after.seq, before.seq);
  fact("it stands in the same state, at the CFO", after.stateValue, before.stateValue);
  fact("it has the same context", after.context, before.context);
  fact("its three due times are the same", after.timers, before.timers);
  fact("so is everything else about it", after, before);
  return restarted;
}

/** Now, with a call under way. */
async function crashInCall(): Promise<RunningServer> {
  await (await current)?.kill("SIGKILL");
  const restarted = await start();
  console.log(`  … the server was killed, and started again at ${restarted.url}`);
  return restarted;
}

async function play(): Promise<void> {
  const server = await start();
  console.log(`Perdure at ${server.url}, data in ${data}`);
  await plays.deployBoth(connect(server));
  await plays.playToCfo(connect(server));
  const client = connect(await crash(server));
  await plays.repeatOnce(client);
  await plays.remindAndBook(client);
  await plays.playLoans(client);
  await plays.replayAll(client);
  outside = await startOutside();
  await playOrders(client, outside);
  await finishOrder(connect(await crashInCall()), outside);
  console.log(`\nAll ${plays.factsChecked()} facts hold.`);
}

/** Ends early: when told to, or when nobody reads on (`| head`). */
function stop(): void {
  if (isStopping) return;
  isStopping = true;
  process.exitCode = 1;
  void cleanUp().then(() => process.exit());
}

function asksForHelp(args: string[]): boolean {
  try {
    return parseArgs({ args, options: { help: { type: "boolean" } } }).values.help ?? false;
  } catch (error) {
    throw new Refusal(`${(error as Error).message}\n\n${USAGE}`);
  }
}

await runScript(async () => {
  if (asksForHelp(process.argv.slice(2))) return console.log(USAGE);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  process.stdout.on("error", stop);
  data = mkdtempSync(join(tmpdir(), "perdure-demo-"));
  try {
    await play();
  } catch (error) {
    // Without its server a play that was stopped fails, which nobody needs to hear.
    if (!isStopping) console.error(`\n${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  } finally {
    await cleanUp();
  }
});
