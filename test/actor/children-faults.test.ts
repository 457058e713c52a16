import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ActorObject } from "../../src/actor/actor-object.ts";
import type { ActorRpc } from "../../src/actor/rpc.ts";
import { LIMITS } from "../../src/base/limits.ts";
import {
  actorNow,
  expectReplays,
  records,
  ringAlarm,
  sent,
  spawned,
  sqlIn,
} from "../support/actors.ts";
import type { Body } from "../support/api.ts";
import { call, fresh } from "../support/api.ts";
import { family } from "../support/children.ts";
import { crash } from "../support/reports.ts";
import { silence } from "../support/silence.ts";

const CHILDREN = 4;
const START = Date.UTC(2090, 0, 1);

beforeEach(() => {
  silence();
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(START);
});
afterEach(() => {
  doomed.length = 0;
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Tells its parent that it is there, and waits for a time. */
const CHILD = {
  initial: "working",
  context: { n: { "@expr": "input" } },
  output: { "@expr": "context.n" },
  states: {
    working: {
      entry: { type: "@xstate.sendTo", to: "#_parent", event: { type: "HELLO" } },
      after: { "60000": "ended" },
    },
    ended: { type: "final" },
  },
};

const VERBS = ["spawn", "childEnded", "abandon", "receive"] as const;
type Verb = (typeof VERBS)[number];

/** What happens to the calls of actors to each other, in their order; then all is well. */
type Fault = "none" | "lost before" | "lost after" | "receiver crashes" | "caller crashes";
const faults = fc.array(
  fc.constantFrom<Fault>(
    "none",
    "none",
    "lost before",
    "lost after",
    "receiver crashes",
    "caller crashes",
  ),
  { minLength: 4, maxLength: 24 },
);

function spoil(planned: Fault[]): () => void {
  const spies = VERBS.map((verb) => {
    const original = ActorObject.prototype[verb] as ActorRpc[Verb];
    return vi.spyOn(ActorObject.prototype, verb).mockImplementation(async function (
      this: ActorObject,
      command: Body,
    ) {
      // A caller's spawn is none of a parent.
      const fate = verb === "spawn" && !command.parent ? "none" : (planned.shift() ?? "none");
      if (fate === "lost before") throw new Error("injected: lost before");
      const reply = await (original as (command: Body) => Promise<unknown>).call(this, command);
      if (fate === "lost after") throw new Error("injected: lost after");
      if (fate === "receiver crashes") doomed.push(command.id);
      if (fate === "caller crashes") doomed.push(callerOf(verb, command));
      return reply as never;
    } as never);
  });
  return () => {
    for (const spy of spies) spy.mockRestore();
  };
}

/** Those that crash soon: an object cannot be thrown away by a call that it waits for. */
const doomed: string[] = [];

/** Who called, by what it says. */
function callerOf(verb: Verb, command: Body): string {
  if (verb === "receive") return command.from.id;
  return verb === "childEnded" ? command.child : command.parent.id;
}

/** Time passes, and alarms go off in any order, until it is so. */
async function live(ids: string[], done: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 60; round += 1) {
    for (const id of ids) {
      for (const other of doomed.splice(0)) await crash(other);
      await ringAlarm(id).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    if (await done()) return;
    vi.setSystemTime(Date.now() + LIMITS.effectRetryMostMs);
  }
  throw new Error("It did not become so.");
}

async function kindsOf(id: string): Promise<string[]> {
  const answer = await call("GET", `/v1/actors/${id}/events?limit=200`);
  return answer.status === 200 ? answer.body.items.map(({ kind }: Body) => kind) : [];
}

describe("whatever is lost between parents and children, and whoever crashes", () => {
  test("each child is spawned, heard and joined once", async () => {
    await fc.assert(
      fc.asyncProperty(faults, async (planned) => {
        const stem = fresh("child");
        const id = await spawned(
          await family(CHILD, { id: stem, forEach: Array.from({ length: CHILDREN }, (_, n) => n) }),
        );
        const ids = Array.from({ length: CHILDREN }, (_, n) => `${stem}.${n}`);
        const allIsWell = spoil([...planned]);
        try {
          await sent(id, "GO");
          await live([id, ...ids], async () => {
            const messages = (await kindsOf(id)).filter((kind) => kind === "message");
            return (await actorNow(id)).stateValue === "joined" && messages.length === CHILDREN;
          });
        } finally {
          allIsWell();
        }
        expect((await actorNow(id)).context.got).toEqual(
          ids.map((child, output) => ({ id: child, output })),
        );
        const log = await records(id);
        const heard = log.filter(({ kind }) => kind === "child_done");
        expect(heard.map(({ payload }) => payload.index).toSorted()).toEqual([0, 1, 2, 3]);
        for (const child of ids) expect(await kindsOf(child)).toEqual(["spawned", "timer"]);
        // Its message came before its end.
        for (const child of ids) {
          const of = log.filter(({ by }) => by === `actor:${child}`).map(({ kind }) => kind);
          expect(of).toEqual(["message", "child_done"]);
        }
        await expectReplays(id);
      }),
      { numRuns: 12, endOnFailure: true },
    );
  });

  test("no child of a state that was left lives on", async () => {
    await fc.assert(
      fc.asyncProperty(
        faults,
        fc.constantFrom("LEAVE", "END", "delete"),
        fc.nat(3),
        async (planned, how, rounds) => {
          const stem = fresh("child");
          const id = await spawned(
            await family(CHILD, {
              id: stem,
              forEach: Array.from({ length: CHILDREN }, (_, n) => n),
            }),
          );
          const ids = Array.from({ length: CHILDREN }, (_, n) => `${stem}.${n}`);
          const allIsWell = spoil([...planned]);
          try {
            await sent(id, "GO");
            for (let n = 0; n < rounds; n += 1) await ringAlarm(id).catch(() => {});
            if (how === "delete") await call("DELETE", `/v1/actors/${id}`);
            else await sent(id, how);
            await live([id, ...ids], async () => {
              if (how === "delete")
                return (await call("DELETE", `/v1/actors/${id}`)).status === 404;
              const [row] = await sqlIn<{ outbox: string }>(id, "SELECT outbox FROM actor");
              return row!.outbox === "";
            });
          } finally {
            allIsWell();
          }
          for (const child of ids) {
            const { status, body } = await call("GET", `/v1/actors/${child}`);
            if (status === 404) continue;
            // One whose time had come before it was let go had ended by itself.
            expect(["terminated", "done"]).toContain(body.status);
            expect((await kindsOf(child)).filter((kind) => kind === "spawned")).toHaveLength(1);
          }
        },
      ),
      { numRuns: 12, endOnFailure: true },
    );
  });
});
