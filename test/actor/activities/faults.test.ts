import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ActorObject } from "../../../src/actor/actor-object.ts";
import { Resident } from "../../../src/actor/resident.ts";
import { LIMITS } from "../../../src/base/limits.ts";
import { PerdureError } from "../../../src/base/errors.ts";
import { implementations } from "../../../src/implementations/index.ts";
import { hanging, service } from "../../support/activities.ts";
import {
  actorNow,
  deployed,
  expectReplays,
  records,
  ringAlarm,
  sent,
  spawned,
  sqlIn,
} from "../../support/actors.ts";
import type { Body } from "../../support/api.ts";
import { call } from "../../support/api.ts";
import { crash } from "../../support/reports.ts";
import { silence } from "../../support/silence.ts";

beforeEach(() => {
  silence();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2090, 0, 1) });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const name of Object.keys(implementations.sources)) delete implementations.sources[name];
});

/** Keeps what it is told, in order. */
const LISTENER = {
  initial: "on",
  context: { heard: [] },
  states: {
    on: {
      on: {
        TELL: {
          actions: {
            type: "@xstate.assign",
            context: { heard: { "@expr": "context.heard + [event.n]" } },
          },
        },
      },
    },
  },
};

/** Calls, works, tells, and undoes the call; and tells as well when it is made to leave. */
function worker(to: string): object {
  const retry = { maxAttempts: 100, initialMs: 1_000, maxMs: 1_000 };
  const tell = (n: number) => ({ type: "@xstate.sendTo", to, event: { type: "TELL", n } });
  const calling = (path: string) => ({
    src: "http",
    input: { method: "POST", url: `http://service.example/${path}`, retry, timeoutMs: 60_000 },
  });
  return {
    initial: "idle",
    on: { LEAVE: ".left" },
    states: {
      idle: { on: { GO: "paying" } },
      paying: {
        entry: tell(1),
        invoke: { id: "pay", ...calling("pay"), compensate: calling("undo"), onDone: "making" },
      },
      making: {
        entry: [tell(2), tell(3)],
        invoke: { id: "make", src: "make", input: { retry }, onDone: "undoing" },
      },
      undoing: { entry: tell(4), invoke: { id: "undo", src: "compensate", onDone: "ended" } },
      ended: { entry: tell(5) },
      left: { entry: tell(6) },
    },
  };
}

/** What becomes of the next thing that is awaited: a call, a message, whatever a transaction needs. */
type Fault = "none" | "fails" | "lost" | "hangs" | "crashes";
const fault = fc.constantFrom<Fault>("none", "none", "fails", "lost", "hangs", "crashes");
type Deed = "ring" | "crash" | "pause" | "resume" | "wait" | "clock" | "leave";
const deed = fc.constantFrom<Deed>("ring", "crash", "pause", "resume", "wait", "clock");
const deeds = fc
  .tuple(fc.array(deed, { maxLength: 10 }), fc.boolean())
  .map(([list, leaves]): Deed[] => (leaves ? [...list, "leave"] : list));

const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

test("whatever fails, hangs, is lost or crashes at whatever is awaited: each activity has one result under one key, each message is heard once, in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fault, { maxLength: 20 }),
      fc.array(fault, { maxLength: 10 }),
      deeds,
      async (ofCalls, ofRest, done) => {
        implementations.sources["make"] = async () => null;
        const listener = await spawned(await deployed(LISTENER));
        const id = await spawned(worker(listener));
        const { uid } = await actorNow(id);
        const keys: string[] = [];
        let doomed = false;
        let well = false;
        const next = (faults: Fault[]): Fault => (well ? "none" : (faults.shift() ?? "none"));
        const plans = { calls: [...ofCalls], rest: [...ofRest] };
        const answer = async (fate: Fault, hang: () => Promise<never>): Promise<void> => {
          if (fate === "hangs") await hang();
          if (fate === "crashes") doomed = true;
          if (fate === "fails" || fate === "lost") throw new TypeError("injected: no connection");
        };
        service(async (out) => {
          keys.push(`${new URL(out.url).pathname} ${out.headers.get("Idempotency-Key")}`);
          const fate = next(plans.calls);
          if (fate === "fails") return new Response("later", { status: 503 });
          await answer(fate, () => hanging(out) as Promise<never>);
          return new Response("{}");
        });
        implementations.sources["make"] = async ({ key, signal }) => {
          keys.push(`/make "${key}"`);
          await answer(next(plans.calls), () => hanging({ signal } as never) as Promise<never>);
          return null;
        };
        const { receive } = ActorObject.prototype;
        const receiving = vi.spyOn(ActorObject.prototype, "receive");
        receiving.mockImplementation(async function (this: ActorObject, message) {
          const fate = next(plans.rest);
          if (fate === "fails") throw new Error("injected: lost before");
          const reply = await receive.call(this, message);
          if (fate === "lost") throw new Error("injected: lost after");
          if (fate === "crashes") doomed = true;
          return reply;
        });
        const { ready } = Resident.prototype;
        const readying = vi.spyOn(Resident.prototype, "ready");
        readying.mockImplementation(async function (this: Resident, needs) {
          // A caller would send it again; what the actor does by itself is meant.
          const own = this.actor?.envelope.id === id && !calling;
          const fate = own ? next(plans.rest) : "none";
          if (fate === "fails" || fate === "lost")
            throw new PerdureError("unavailable", "injected");
          if (fate === "crashes") doomed = true;
          await ready.call(this, needs);
        });
        let calling = true;
        const ask = async (path: string, body: object = {}) => {
          calling = true;
          await call("POST", `/v1/actors/${id}/${path}`, { body });
          calling = false;
        };
        const ring = () => void ringAlarm(id).catch(() => {});
        await sent(id, "GO");
        calling = false;
        const act: Record<Deed, () => Promise<unknown> | void> = {
          ring,
          crash: () => crash(id),
          pause: () => ask("pause"),
          resume: () => ask("resume"),
          wait: () => void vi.setSystemTime(Date.now() + LIMITS.effectRetryMostMs),
          clock: () => ask("clock/advance", { ms: 5_000 }),
          leave: () => ask("events", { type: "LEAVE" }),
        };
        for (const what of done) {
          await act[what]();
          await turn();
          if (doomed) await crash(id);
          doomed = false;
        }
        // Now all is well; what hangs ends with its process.
        well = true;
        await crash(id);
        await ask("resume");
        const outbox = async () =>
          (await sqlIn<{ outbox: string }>(id, "SELECT outbox FROM actor"))[0]?.outbox;
        for (let round = 0; ; round += 1) {
          const { stateValue } = await actorNow(id);
          if (["ended", "left"].includes(stateValue) && (await outbox()) === "") break;
          expect(round, `${stateValue} ${await outbox()}`).toBeLessThan(200);
          vi.setSystemTime(Date.now() + LIMITS.effectRetryMostMs);
          ring();
          await turn();
        }
        for (const spy of [receiving, readying]) spy.mockRestore();
        expectOneEach(uid, await records(id), keys);
        const { heard } = (await actorNow(listener)).context;
        const { stateValue } = await actorNow(id);
        expect(heard).toEqual([1, 2, 3, 4, 5, 6].filter((n) => heard.includes(n)));
        expect(heard.at(-1)).toBe(stateValue === "left" ? 6 : 5);
        if (stateValue === "ended") expect(heard).toEqual([1, 2, 3, 4, 5]);
        await expectReplays(id);
        await expectReplays(listener);
      },
    ),
    { numRuns: 8, endOnFailure: true },
  );
}, 120_000);

/** Each activity that a record started has at most one result, and was called for by its key alone. */
function expectOneEach(uid: string, log: Body[], calls: string[]): void {
  const results = log.filter(({ kind, reason }) => kind === "activity_done" && reason !== "late");
  const refs = results.map(({ payload }) => payload.ref);
  expect(new Set(refs).size).toBe(refs.length);
  expect(log.filter(({ kind }) => kind === "activity_failed")).toEqual([]);
  for (const path of ["/pay", "/make", "/undo"]) {
    const of = new Set(calls.filter((one) => one.startsWith(path)));
    expect(of.size).toBeLessThanOrEqual(1);
    for (const one of of) expect(one).toMatch(new RegExp(`^${path} "${uid}:[0-9]+:[0-9]+"$`));
  }
}
