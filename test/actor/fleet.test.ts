import type { Reply } from "../../src/base/reply.ts";
import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { DEFAULT_TENANT, actorObjectName, shardNames } from "../../src/base/ids.ts";
import { LIMITS } from "../../src/base/limits.ts";
import type { Place, Summary } from "../../src/directory/rpc.ts";
import { shardCount } from "../../src/directory/shards.ts";
import type { ActorRpc, ControlCommand, Keyed } from "../../src/actor/rpc.ts";
import { callObject } from "../../src/base/call-object.ts";
import { PerdureError } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { deployed, objectOf, ringAlarm } from "../support/actors.ts";
import { fresh } from "../support/api.ts";
import { shardCalls, value } from "../support/directory.ts";
import { allowManyObjects } from "../support/many-objects.ts";
import { crash, indexedIn, standingIn, watchDirectory } from "../support/reports.ts";
import type { Fault } from "../support/reports.ts";
import { silence } from "../support/silence.ts";

/** With 2,000 it takes two minutes and shows the same. */
const ACTORS = 500;
const ACTS = 800;
const CLIENTS = 24;
/** Of a hundred calls to the directory, how many go wrong. */
const FAULTS = 12;

beforeAll(allowManyObjects);
afterEach(() => {
  vi.restoreAllMocks();
});

const parks = { "@expr": "context.none > 1" };
const setRef = {
  actions: { type: "@perdure.setRef", name: "order", value: { "@expr": "event.order" } },
};

/** Machines of several shapes; all of them understand GO, REF and LATER, each in its own way. */
const SHAPES = [
  {
    initial: "a",
    states: {
      a: { tags: ["even"], on: { GO: "b", REF: setRef, END: "done" } },
      b: { tags: ["odd", "late"], on: { GO: "a", REF: setRef } },
      done: { type: "final" },
    },
  },
  {
    initial: "waiting",
    states: {
      waiting: { after: { "300": "late", "3600000": "gone" }, on: { GO: "quick", REF: setRef } },
      late: {
        tags: ["late"],
        after: { "200": { guard: parks, target: "quick" } },
        on: { GO: "waiting" },
      },
      quick: { after: { "100": "waiting" }, on: { GO: { target: "quick", reenter: true } } },
      gone: { type: "final" },
    },
  },
  {
    type: "parallel",
    states: {
      left: {
        initial: "x",
        states: { x: { tags: ["x"], on: { GO: "y" } }, y: { tags: ["y"], on: { GO: "x" } } },
      },
      right: {
        initial: "idle",
        states: {
          idle: { on: { LATER: "armed", REF: setRef } },
          armed: { after: { "400": "idle" }, on: { GO: "idle" } },
        },
      },
    },
  },
  {
    initial: "a",
    context: { n: 0 },
    states: {
      a: {
        on: {
          GO: { actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } } },
          LATER: { actions: { type: "@xstate.raise", event: { type: "BAD" }, delay: 50 } },
          BAD: { actions: { type: "@xstate.assign", context: { n: parks } } },
          REF: setRef,
        },
      },
    },
  },
];

/** A small generator of random numbers, so that a seed says what was tried. */
function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Runs a job for each item, some at once. */
async function each<Item>(
  items: readonly Item[],
  job: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const work = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await job(item);
  };
  await Promise.all(Array.from({ length: CLIENTS }, work));
}

test(`${ACTORS} actors, changed at random while the directory fails at random: no difference in the end`, async () => {
  const seed = Date.now() % 1_000_000;
  const random = randomOf(seed);
  silence();
  let failing = true;
  let faults = 0;
  watchDirectory(() => {
    if (!failing || random(100) >= FAULTS) return null;
    faults += 1;
    const ms = random(60);
    const held = new Promise<void>((resolve) => setTimeout(resolve, ms));
    return (["lost before", "lost after", "refused", { held }] as const)[random(4)] as Fault;
  });
  const definitions = await Promise.all(SHAPES.map(deployed));
  const ids = Array.from({ length: ACTORS }, () => fresh("f"));
  const begin = performance.now();

  const keyed = (key = fresh("k")): Keyed => ({
    key,
    request: "r",
    ifMatch: null,
    by: null,
    principal: "dev",
  });
  const to = (id: string, ask: (actor: ActorRpc) => Promise<Reply>, repeatable = true) =>
    codeOf(callObject(env.ACTORS, actorObjectName(DEFAULT_TENANT, id), repeatable, ask));
  const spawn = async (id: string): Promise<string> => {
    const refs: Record<string, string> = random(3) === 0 ? { customer: `c-${random(50)}` } : {};
    const definitionId = definitions[random(definitions.length)] as string;
    const command = { tenant: DEFAULT_TENANT, id, keyed: keyed(), definitionId, refs };
    for (let attempt = 1; ; attempt += 1) {
      const code = await to(id, (actor) => actor.spawn(command));
      if (code === "unavailable" && attempt < 20) continue;
      // It lives already, or was deleted before this key's repeat.
      expect(["ok", "actor_exists", "actor_deleted"]).toContain(code);
      return code;
    }
  };
  await each(ids, async (id) => void (await spawn(id)));
  const spawned = performance.now();

  const codes = new Map<string, number>();
  const act = async (id: string): Promise<void> => {
    const address = { tenant: DEFAULT_TENANT, id };
    const send = (type: string, payload: JsonObject | null = null) => {
      const event = { type, payload, strict: false, representation: false };
      const command = { ...address, keyed: keyed(), ...event };
      return to(id, (actor) => actor.send(command));
    };
    const control = (action: ControlCommand["action"]) => {
      const command = { ...address, keyed: keyed(), action, reason: null, item: null };
      return to(id, (actor) => actor.control(command));
    };
    const schedule = () => {
      const later = { type: "GO", payload: null, delayMs: 50 + random(1_000) };
      const command = { ...address, keyed: keyed(), ...later };
      return to(id, (actor) => actor.schedule(command));
    };
    const setRefs = () => {
      const change = { refs: { customer: null }, ifMatch: null, principal: "dev" };
      return to(id, (actor) => actor.setRefs({ ...address, ...change }), false);
    };
    const advance = () => {
      const command = { ...address, ms: random(5_000), principal: "dev" };
      return to(id, (actor) => actor.advanceClock(command), false);
    };
    const erase = () => to(id, (actor) => actor.erase({ ...address, ifMatch: null }), false);
    const acts: [weight: number, act: () => Promise<string | void>][] = [
      [50, () => send("GO")],
      [10, () => send("LATER")],
      [10, () => send("REF", { order: `o-${random(100)}` })],
      [4, () => send("END")],
      [4, schedule],
      [4, () => control("pause")],
      [4, () => control("resume")],
      [1, () => control("terminate")],
      [2, () => control("retry")],
      [4, setRefs],
      [2, advance],
      [6, () => crash(id)],
      [5, erase],
      [5, () => spawn(id)],
    ];
    let ticket = random(acts.reduce((sum, [weight]) => sum + weight, 0));
    const [, chosen] = acts.find(([weight]) => (ticket -= weight) < 0)!;
    const code = (await chosen()) ?? "crash";
    codes.set(code, (codes.get(code) ?? 0) + 1);
  };
  await each(
    Array.from({ length: ACTS }, () => ids[random(ids.length)] as string),
    act,
  );
  const acted = performance.now();

  failing = false;
  // What short timers still change, and what a minute's alarm makes good, comes to rest.
  let left: Difference[] = ids.map((id) => ({ id }));
  for (let round = 0; round < 20 && left.length > 0; round += 1) {
    const differing = left.map(({ id }) => id);
    await each(differing, ringSoon);
    left = await differences(differing);
  }
  const told = JSON.stringify({
    seed,
    faults,
    codes: Object.fromEntries(codes),
    ms: [spawned - begin, acted - spawned, performance.now() - acted].map(Math.round),
  });
  // oxlint-disable-next-line no-console
  console.log(told);
  expect(left.slice(0, 3), told).toEqual([]);
  expect(faults).toBeGreaterThan(50);
}, 600_000);

/** The reply's error word, or `ok`. A crash under a call is `unavailable`; anything else thrown is a fault of ours. */
async function codeOf(reply: Promise<Reply>): Promise<string> {
  try {
    const given = await reply;
    return given.ok ? "ok" : given.failure.code;
  } catch (error) {
    if (error instanceof PerdureError) return error.failure.code;
    throw error;
  }
}

/** Lets an alarm go off that would within the minute; those of later timers are left alone. */
async function ringSoon(id: string): Promise<void> {
  const at = await runInDurableObject(objectOf(id), (_, { storage }) => storage.getAlarm());
  if (at !== null && at <= Date.now() + LIMITS.settleMs) await ringAlarm(id);
}

interface Difference {
  id: string;
  actor?: object | null;
  shown?: object | null;
}

/** Every actor of which the directory does not say what is so, or says something though there is none. */
async function differences(ids: readonly string[]): Promise<Difference[]> {
  const entries = await everyEntry(new Set(ids));
  const found: Difference[] = [];
  await each(ids, async (id) => {
    const actor = await standing(id);
    const entry = entries.get(id);
    const shown = entry === undefined ? null : indexedIn(entry);
    if (!same(actor, shown)) found.push({ id, actor, shown });
  });
  return found;
}

async function everyEntry(ids: ReadonlySet<string>): Promise<Map<string, Summary>> {
  const count = (await shardCount(env, DEFAULT_TENANT, false)) as number;
  const entries = new Map<string, Summary>();
  for (const name of shardNames(DEFAULT_TENANT, count)) {
    let after: Place | null = null;
    do {
      const page: { items: Summary[]; next: Place | null } = value(
        await shardCalls(name).list({ filter: {}, after, limit: LIMITS.pageMost }),
      );
      for (const entry of page.items) {
        expect(entries.has(entry.id)).toBe(false);
        if (ids.has(entry.id)) entries.set(entry.id, entry);
      }
      after = page.next;
    } while (after !== null);
  }
  return entries;
}

/** How an actor stands, of what can be found; null where there is none. */
async function standing(id: string): Promise<object | null> {
  const [reply, snapshot] = await runInDurableObject(objectOf(id), async (actor, { storage }) => {
    const read = await actor.read({ tenant: DEFAULT_TENANT, id, at: null });
    const rows = read.ok ? storage.sql.exec("SELECT snapshot FROM actor").toArray() : [];
    return [read, rows[0]?.["snapshot"] as string] as const;
  });
  if (!reply.ok) {
    expect(reply.failure.code).toBe("actor_not_found");
    return null;
  }
  return standingIn(reply.body, snapshot);
}

function same(a: object | null, b: object | null): boolean {
  try {
    expect(a).toEqual(b);
    return true;
  } catch {
    return false;
  }
}
