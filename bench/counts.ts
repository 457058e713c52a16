import { setTimeout as sleep } from "node:timers/promises";
import { serveFleet } from "./fleet/serve.ts";
import type { Figures, Fleet, FleetFigures } from "./fleet/serve.ts";
import type { Lab } from "./lab.ts";
import { creates, inTurn } from "./measure.ts";
import type { Load } from "./measure.ts";
import type { BenchOptions } from "./options.ts";
import { perdure } from "./perdure.ts";
import { progress } from "./progress.ts";
import { names } from "./slot.ts";
import { table } from "./table.ts";

const LOAD: Load = { clients: 8, limitMs: Number.POSITIVE_INFINITY };
/** The last event of the workload again and again, until an actor has had so many. */
const EVENTS_IN_ALL = 20;
/** The first events of the workload: new state, new due time. All others change neither. */
const CHANGING = ["SUBMIT_INFO", "PAY_FEE"];
/** Nothing was counted for so long and no alarm is near: nothing is under way. */
const QUIET_MS = 1_500;
const NEAR_MS = 120_000;
const PATIENCE_MS = 180_000;
/** When the directory's safety alarm goes off after a change: never while we look, or before the next step. */
const SETTLE_LATER_MS = 3_600_000;
const SETTLE_SOON_MS = 4_000;

/** What one step cost one actor, on average over all that were counted. */
export interface Cost {
  step: string;
  actor: Figures;
  directory: Figures;
}

export interface Counted {
  /** Steps follow each other so fast that the directory's safety alarm did not go off yet. */
  close: Cost[];
  /** It goes off between any two steps, if the first made it necessary. */
  apart: Cost[];
  /** Of one actor's database. */
  bytes: { born: number; after20: number };
}

/** Rows, requests, alarms and bytes of each step of an actor's life: the result as text. */
export async function counts(lab: Lab, { counted }: BenchOptions): Promise<string> {
  const { close, apart, bytes } = await countAll(lab, counted);
  return [
    `${counted} actors; figures are per actor and step. Billed as requests: calls and alarms. Billed as rows: rows written and alarms set.`,
    `Steps close together, before the directory's safety alarm\n${costs(close)}`,
    `Steps more than a minute apart, asleep in between, that alarm included (here it goes off after ${SETTLE_SOON_MS} ms)\n${costs(apart)}`,
    `Bytes of an actor's database: ${bytes.born} at birth, ${bytes.after20} after ${EVENTS_IN_ALL}`,
  ].join("\n\n");
}

export async function countAll(lab: Lab, actors: number): Promise<Counted> {
  const close = await serveFleet(lab, (fleet) => live(fleet, actors, SETTLE_LATER_MS));
  const apart = await serveFleet(lab, (fleet) => live(fleet, actors, SETTLE_SOON_MS));
  return { close: close.steps, apart: apart.steps, bytes: close.bytes };
}

interface Life {
  steps: Cost[];
  bytes: Counted["bytes"];
}

/** All actors take a step, then all take the next one. */
async function live(fleet: Fleet, actors: number, settleMs: number): Promise<Life> {
  const ids = names("counted", actors);
  await fleet.settle(settleMs);
  await fleet.counting(true);
  // Makes the tables of registry and shards, which no other spawn pays for.
  await creates(perdure, fleet, LOAD, names("first", 200));
  await quiet(fleet, []);
  const steps: Cost[] = [];
  const count = async (step: string, work: () => Promise<unknown>) => {
    progress(step);
    const before = await fleet.figures();
    await work();
    if (settleMs === SETTLE_SOON_MS) {
      await quiet(fleet, []);
      await fleet.sleep(ids);
    }
    const after = await quiet(fleet, ids);
    const per = (name: "actor" | "directory") => difference(before[name], after[name], actors);
    steps.push({ step, actor: per("actor"), directory: per("directory") });
  };
  const each = async () => Math.round((await fleet.bytes(ids)).actors / actors);

  await count("spawn", () => creates(perdure, fleet, LOAD, ids));
  const born = await each();
  for (const [index, step] of CHANGING.entries())
    await count(step, () => send(fleet, ids, [index]));
  const unchanged = Array.from(
    { length: EVENTS_IN_ALL - CHANGING.length },
    (_, n) => CHANGING.length + n,
  );
  await count("ADD_DOCUMENT", () => send(fleet, ids, unchanged.slice(0, 1)));
  await send(fleet, ids, unchanged.slice(1));
  progress("");
  return { steps, bytes: { born, after20: await each() } };
}

/** Each of these actors gets the events with these indices. */
function send(fleet: Fleet, ids: string[], indices: readonly number[]): Promise<unknown> {
  return inTurn(fleet, LOAD, ids, async (connection, id) => {
    for (const index of indices) {
      perdure.checkEvent(id, index, await connection.request(perdure.event(id, index)));
    }
  });
}

/** The figures as soon as nothing changes them any more. */
async function quiet(fleet: Fleet, ids: readonly string[]): Promise<FleetFigures> {
  let last = "";
  let since = Date.now();
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await sleep(100)) {
    const { at } = await fleet.nextAlarm(ids);
    const figures = await fleet.figures();
    const now = JSON.stringify(figures);
    if (now !== last || (at !== null && at < Date.now() + NEAR_MS)) since = Date.now();
    last = now;
    if (Date.now() - since >= QUIET_MS) return figures;
  }
  throw new Error(`Still not quiet after ${PATIENCE_MS} ms: ${last}`);
}

function difference(before: Figures, after: Figures, by: number): Figures {
  const of = (name: keyof Figures) => (after[name] - before[name]) / by;
  return {
    requests: of("requests"),
    alarms: of("alarms"),
    alarmsSet: of("alarmsSet"),
    rowsRead: of("rowsRead"),
    rowsWritten: of("rowsWritten"),
  };
}

const COLUMNS = ["", "", "calls", "alarms", "rows written", "alarms set", "rows read"];

function costs(steps: readonly Cost[]): string {
  const row = (step: string, object: string, figures: Figures) => {
    const { requests, alarms, rowsWritten, alarmsSet, rowsRead } = figures;
    const values = [requests, alarms, rowsWritten, alarmsSet, rowsRead];
    return [step, object, ...values.map((value) => String(Number(value.toFixed(2))))];
  };
  return table(
    [
      COLUMNS,
      ...steps.flatMap(({ step, actor, directory }) => [
        row(step, "actor", actor),
        row("", "directory", directory),
      ]),
    ],
    [0, 1],
  );
}
