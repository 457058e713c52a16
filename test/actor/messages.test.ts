import type { Reply } from "../../src/base/reply.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ActorObject } from "../../src/actor/actor-object.ts";
import type { MessageCommand } from "../../src/actor/rpc.ts";
import { LIMITS } from "../../src/base/limits.ts";
import {
  actorNow,
  advanceClock,
  deployed,
  evict,
  expectReplays,
  records,
  sent,
  spawned,
  sqlIn,
} from "../support/actors.ts";
import { call, fresh } from "../support/api.ts";
import { CHILD, actorWhen, parentOf } from "../support/children.ts";
import { crash } from "../support/reports.ts";
import { silence } from "../support/silence.ts";
import { until } from "../support/until.ts";

beforeEach(() => {
  silence();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const expr = (text: string) => ({ "@expr": text });
const assign = (context: object) => ({ type: "@xstate.assign", context });

/** Keeps what it is told, in order. */
const LISTENER = {
  initial: "on",
  context: { heard: [] },
  states: {
    on: {
      on: {
        TELL: { actions: assign({ heard: expr("context.heard + [event.n]") }) },
        BREAK: { actions: assign({ heard: expr("context.none") }) },
        END: "off",
      },
    },
    off: { type: "final" },
  },
};

/** Tells others when it is told to. */
const SENDER = {
  initial: "on",
  context: { n: 0 },
  states: {
    on: {
      on: {
        GO: {
          actions: [
            assign({ n: expr("context.n + 1") }),
            {
              type: "@xstate.sendTo",
              to: expr("event.to"),
              event: { type: "TELL", n: expr("context.n") },
            },
          ],
        },
        HURT: {
          actions: { type: "@xstate.sendTo", to: expr("event.to"), event: { type: "BREAK" } },
        },
        LATER: {
          actions: {
            type: "@xstate.sendTo",
            to: expr("event.to"),
            event: { type: "TELL", n: 7 },
            delay: 60_000,
          },
        },
        MANY: {
          actions: [0, 1, 2].map((n) => ({
            type: "@xstate.sendTo",
            to: expr("event.to"),
            event: { type: "TELL", n },
          })),
        },
        TELL: { actions: assign({ n: expr("context.n + 100") }) },
        END: "off",
      },
    },
    off: { type: "final" },
  },
};

const control = (id: string, action: string) =>
  call("POST", `/v1/actors/${id}/${action}`, { body: {} });
const heardBy = (id: string, n: number) =>
  actorWhen(id, ({ context }) => context.heard.length >= n).then(({ context }) => context.heard);
const outboxOf = (id: string, wanted: (outbox: string) => boolean): Promise<string> =>
  until(
    async () => (await sqlIn<{ outbox: string }>(id, "SELECT outbox FROM actor"))[0]!.outbox,
    wanted,
  );
const deliveredFrom = async (id: string): Promise<boolean> =>
  (await outboxOf(id, (outbox) => outbox === "")) === "";

/** Loses messages on their way, or what is answered to them. */
function lossy(lost: (nth: number) => "before" | "after" | null): MessageCommand[] {
  const original = ActorObject.prototype.receive;
  const seen: MessageCommand[] = [];
  vi.spyOn(ActorObject.prototype, "receive").mockImplementation(async function (
    this: ActorObject,
    message: MessageCommand,
  ) {
    seen.push(message);
    const fate = lost(seen.length);
    if (fate === "before") throw new Error("injected: lost before");
    const reply: Reply = await original.call(this, message);
    if (fate === "after") throw new Error("injected: lost after");
    return reply;
  });
  return seen;
}

describe("a message to another actor", () => {
  test("arrives, with the key of the step that sent it", async () => {
    const to = await spawned(LISTENER);
    const id = await spawned(SENDER);
    await sent(id, "GO", { to });
    expect(await heardBy(to, 1)).toEqual([1]);
    const { uid } = await actorNow(id);
    expect((await records(to))[1]).toMatchObject({
      kind: "message",
      key: `${uid}:2:0`,
      by: `actor:${id}`,
    });
    expect(await deliveredFrom(id)).toBe(true);
    await expectReplays(id);
    await expectReplays(to);
  });

  test("arrives in the order of the steps, whatever gets lost on the way", async () => {
    const to = await spawned(LISTENER);
    const id = await spawned(SENDER);
    const seen = lossy((nth) => (["before", "after", null] as const)[nth % 3] ?? null);
    for (let n = 0; n < 3; n += 1) await sent(id, "GO", { to });
    await sent(id, "MANY", { to });
    for (let tries = 0; tries < 20; tries += 1) await advanceClock(id, 300_000);
    expect(await heardBy(to, 6)).toEqual([1, 2, 3, 0, 1, 2]);
    expect(seen.length).toBeGreaterThan(6);
  });

  test("to itself arrives too", async () => {
    const id = await spawned(SENDER);
    await sent(id, "GO", { to: id });
    await actorWhen(id, ({ context }) => context.n === 101);
  });

  test("waits for its delay, and is sent then", async () => {
    const to = await spawned(LISTENER);
    const id = await spawned(SENDER);
    await sent(id, "LATER", { to });
    expect((await actorNow(id)).timers).toHaveLength(1);
    await advanceClock(id, 60_000);
    expect(await heardBy(to, 1)).toEqual([7]);
    await expectReplays(id);
  });

  test("that makes its receiver's step fail is parked there, and delivered", async () => {
    const to = await spawned(LISTENER);
    const id = await spawned(SENDER);
    await sent(id, "HURT", { to });
    await sent(id, "GO", { to });
    expect(await heardBy(to, 1)).toEqual([1]);
    expect((await actorNow(to)).needsAttention[0].reason).toBe("parked");
    expect((await actorNow(id)).needsAttention).toEqual([]);
    await expectReplays(to);
  });

  test("to one that is paused waits, and holds up no other", async () => {
    const [paused, awake] = [await spawned(LISTENER), await spawned(LISTENER)];
    const id = await spawned(SENDER);
    await control(paused, "pause");
    await sent(id, "GO", { to: paused });
    await sent(id, "GO", { to: awake });
    await sent(id, "GO", { to: paused });
    expect(await heardBy(awake, 1)).toEqual([2]);
    await control(paused, "resume");
    await evict(id);
    await advanceClock(id, LIMITS.effectRetryMostMs);
    expect(await heardBy(paused, 2)).toEqual([1, 3]);
    expect((await actorNow(id)).needsAttention).toEqual([]);
  });
});

describe("a message that nobody can take", () => {
  test.each([
    ["nobody has the id", async () => fresh("nobody"), "actor_not_found"],
    ["the id makes no sense", async () => "a/b c", "actor_not_found"],
    ["it has no parent", async () => "#_parent", "actor_not_found"],
    [
      "its receiver has ended",
      async () => {
        const to = await spawned(LISTENER);
        await sent(to, "END");
        return to;
      },
      "actor_not_active",
    ],
    [
      "its receiver was deleted",
      async () => {
        const to = await spawned(LISTENER);
        await call("DELETE", `/v1/actors/${to}`);
        return to;
      },
      "actor_not_found",
    ],
  ])("since %s needs attention, and the next are sent", async (_, receiver, code) => {
    const to = await receiver();
    const other = await spawned(LISTENER);
    const id = await spawned(SENDER);
    await sent(id, "GO", { to });
    await sent(id, "GO", { to: other });
    expect(await heardBy(other, 1)).toEqual([2]);
    const actor = await actorWhen(id, ({ needsAttention }) => needsAttention.length === 1);
    expect(actor.needsAttention[0]).toMatchObject({ reason: "undeliverable" });
    const said = (await records(id)).filter(({ kind }) => kind === "undelivered");
    expect(said).toMatchObject([{ payload: { to, error: { code } } }]);
    await expectReplays(id);
  });

  test("is sent again by a retry, and acts once however often", async () => {
    const to = fresh("late");
    const id = await spawned(SENDER);
    await sent(id, "GO", { to });
    await actorWhen(id, ({ needsAttention }) => needsAttention.length === 1);
    await spawned(LISTENER, { id: to });
    expect((await control(id, "retry")).status).toBe(200);
    expect(await heardBy(to, 1)).toEqual([1]);
    expect((await actorNow(id)).needsAttention).toEqual([]);
    expect(await deliveredFrom(id)).toBe(true);
  });

  test("is given up when too many wait behind it, the oldest first", async () => {
    const to = await spawned(LISTENER);
    const say = { type: "@xstate.sendTo", to, event: { type: "TELL", n: expr("self.seq") } };
    const id = await spawned({
      initial: "on",
      states: { on: { on: { FLOOD: { actions: Array.from({ length: 100 }, () => say) } } } },
    });
    await control(to, "pause");
    const floods = LIMITS.messagesWaiting / 100 + 1;
    for (let n = 0; n < floods; n += 1) await sent(id, "FLOOD");
    const outbox = await outboxOf(id, (text) => JSON.parse(text).length <= LIMITS.messagesWaiting);
    const left = JSON.parse(outbox).map(({ effect }: { effect: { ref: string } }) => effect.ref);
    expect(left).toHaveLength(LIMITS.messagesWaiting);
    expect(left[0]).toBe("3:0");
    expect(outbox.length).toBeLessThan(LIMITS.outboxBytes);
    const { needsAttention } = await actorNow(id);
    expect(needsAttention[0].reason).toBe("undeliverable");
    const gone = (await records(id)).filter(({ kind }) => kind === "undelivered");
    expect(gone.map(({ payload }) => payload.ref)).toEqual(
      Array.from({ length: 100 }, (_, n) => `2:${n}`),
    );
  });

  test("for a week is given up", async () => {
    const to = await spawned(LISTENER);
    const id = await spawned(SENDER);
    await control(to, "pause");
    await sent(id, "GO", { to });
    await outboxOf(id, (outbox) => outbox.includes('"attempts":1'));
    const last = LIMITS.messageAttempts - 1;
    const actor = await until(
      async () => {
        // An attempt that is under way writes over it.
        const sql = "UPDATE actor SET outbox = json_set(outbox, '$[0].attempts', ?)";
        await sqlIn(id, sql, last);
        await evict(id);
        await advanceClock(id, LIMITS.effectRetryMostMs);
        await outboxOf(id, (outbox) => !outbox.includes(`"attempts":${last}`));
        return await actorNow(id);
      },
      ({ needsAttention }) => needsAttention.length === 1,
    );
    expect(actor.needsAttention[0].reason).toBe("undeliverable");
    expect(await deliveredFrom(id)).toBe(true);
  });
});

describe("messages between parents and children", () => {
  const TALKING = {
    ...CHILD,
    states: {
      working: {
        entry: { type: "@xstate.sendTo", to: "#_parent", event: { type: "TELL", n: 1 } },
        on: {
          END: {
            target: "ended",
            actions: { type: "@xstate.sendTo", to: "#_parent", event: { type: "TELL", n: 2 } },
          },
        },
      },
      ended: { type: "final" },
    },
  };

  async function parentOfTalking(more: object = {}): Promise<string> {
    const definitionId = await deployed(TALKING);
    const parent = parentOf({ definitionId, ...more }) as {
      context: object;
      on: object;
      states: { waiting: { entry?: object } };
    };
    parent.context = { got: null, heard: [] };
    parent.on = { TELL: { actions: assign({ heard: expr("context.heard + [event.n]") }) } };
    return await deployed(parent);
  }

  test("reach the parent, the last one before it is told of the end", async () => {
    const name = fresh("child");
    const id = await spawned(await parentOfTalking({ id: name }));
    await sent(id, "GO");
    expect(await heardBy(id, 1)).toEqual([1]);
    await sent(name, "END");
    await actorWhen(id, ({ stateValue }) => stateValue === "joined");
    const kinds = (await records(id)).map(({ kind }) => kind);
    expect(kinds).toEqual(["spawned", "event", "message", "message", "child_done"]);
    await expectReplays(id);
  });

  test("are not for another life of the parent's id", async () => {
    const [name, id] = [fresh("child"), fresh("parent")];
    const definitionId = await parentOfTalking({ id: name, detach: true });
    await spawned(definitionId, { id });
    await sent(id, "GO");
    await heardBy(id, 1);
    await call("DELETE", `/v1/actors/${id}`);
    await spawned(definitionId, { id });
    await sent(name, "END");
    await actorWhen(name, ({ done }) => done);
    await until(
      () => records(name),
      (log) => log.some(({ kind }) => kind === "undelivered"),
    );
    expect((await actorNow(id)).context.heard).toEqual([]);
    expect(await records(id)).toHaveLength(1);
  });

  test("reach all children of an invoke by its id, once they are there", async () => {
    const stem = fresh("child");
    const definitionId = await deployed(CHILD);
    const parent = parentOf({ definitionId, id: stem, forEach: [{}, {}, {}] }) as {
      states: { waiting: { entry?: object } };
    };
    // In the very step that begins them.
    parent.states.waiting.entry = {
      type: "@xstate.raise",
      event: { type: "TOLD" },
    };
    Object.assign(parent.states.waiting, {
      on: {
        TOLD: {
          actions: { type: "@xstate.sendTo", to: "family", event: { type: "END", said: "now" } },
        },
      },
    });
    const id = await spawned(await deployed(parent));
    await sent(id, "GO");
    const { context, needsAttention } = await actorWhen(
      id,
      ({ stateValue }) => stateValue === "joined",
    );
    expect(needsAttention).toEqual([]);
    expect(context.got.map(({ output }: { output: { said: string } }) => output.said)).toEqual([
      "now",
      "now",
      "now",
    ]);
  });
});

describe("two actors that answer each other", () => {
  const player = {
    initial: "on",
    context: { n: 0 },
    states: {
      on: {
        on: {
          PING: {
            guard: expr("context.n < 60"),
            actions: [
              assign({ n: expr("context.n + 1") }),
              {
                type: "@xstate.sendTo",
                to: expr("event.from"),
                event: { type: "PING", from: expr("self.id") },
              },
            ],
          },
        },
      },
    },
  };

  test("do so as often as they are meant to, each message once", async () => {
    const [a, b] = [await spawned(player), await spawned(player)];
    await sent(a, "PING", { from: b });
    await actorWhen(a, ({ context }) => context.n === 60);
    await actorWhen(b, ({ context }) => context.n === 60);
    await expectReplays(a);
    await expectReplays(b);
  });

  test("go on where they were after crashes", async () => {
    const [a, b] = [await spawned(player), await spawned(player)];
    await sent(a, "PING", { from: b });
    for (let n = 10; n <= 50; n += 10) {
      await actorWhen(a, ({ context }) => context.n >= n);
      await crash(n % 20 === 0 ? a : b);
    }
    const messages = async (id: string) =>
      (await records(id)).filter(({ kind }) => kind === "message").length;
    // Whoever looks wakes them, as their alarms would. The last message comes when both have counted to the end.
    const seen = await until(
      async () => [await messages(a), await messages(b)],
      (counts) => counts.every((count) => count === 60),
    );
    expect(seen).toEqual([60, 60]);
    expect([await actorNow(a), await actorNow(b)].map(({ context }) => context.n)).toEqual([
      60, 60,
    ]);
  });
});
