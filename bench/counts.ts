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
/** Looks, one after the other, in which nothing was counted: nothing is under way. */
const QUIET_LOOKS = 12;
const LOOK_MS = 100;
const MOST_LOOKS = 2_000;
/** ms after a change; the directory's safety alarm does not go off by itself while we look. */
const SETTLE_MS = 3_600_000;
/** Two for each shard and more, so that no counted actor is the first of its kind in its shard. */
const FIRST = 200;

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
    `Steps more than a minute apart, the actor asleep in between, with that alarm\n${costs(apart)}`,
    `Bytes of an actor's database: ${bytes.born} at birth, ${bytes.after20} after ${EVENTS_IN_ALL}`,
  ].join("\n\n");
}

export async function countAll(lab: Lab, actors: number): Promise<Counted> {
  const close = await serveFleet(lab, (fleet) => live(fleet, actors, async () => {}));
  const apart = await serveFleet(lab, (fleet) =>
    live(fleet, actors, async (ids) => {
      await fleet.sleep(ids);
      await fleet.ring(ids, Date.now() + 2 * SETTLE_MS);
    }),
  );
  return { close: close.steps, apart: apart.steps, bytes: close.bytes };
}

interface Life {
  steps: Cost[];
  bytes: Counted["bytes"];
}

/** All actors take a step, then all take the next one; `between` is what happens to them after each. */
async function live(
  fleet: Fleet,
  actors: number,
  between: (ids: string[]) => Promise<void>,
): Promise<Life> {
  const ids = names("counted", actors);
  await fleet.settle(SETTLE_MS);
  await fleet.counting(true);
  // They make what no later actor pays for: tables of registry and shards, the kinds of actors there are.
  // Step by step, since of changes in quick succession the directory hears of the last one only.
  const first = names("first", FIRST);
  await creates(perdure, fleet, LOAD, first);
  for (const index of [...CHANGING.keys(), CHANGING.length]) {
    await send(fleet, first, [index]);
    await quiet(fleet);
  }
  const steps: Cost[] = [];
  const count = async (step: string, work: () => Promise<unknown>) => {
    progress(step);
    const before = await fleet.figures();
    await work();
    await quiet(fleet);
    await between(ids);
    const after = await quiet(fleet);
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
async function quiet(fleet: Fleet): Promise<FleetFigures> {
  let last = "";
  let same = 0;
  for (let look = 0; look < MOST_LOOKS; look++) {
    const figures = await fleet.figures();
    const now = JSON.stringify(figures);
    same = now === last ? same + 1 : 0;
    if (same === QUIET_LOOKS) return figures;
    last = now;
    await sleep(LOOK_MS);
  }
  throw new Error(`Still not quiet after ${MOST_LOOKS} looks: ${last}`);
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
