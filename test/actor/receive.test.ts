import { describe, expect, test } from "vitest";
import type { MessageCommand } from "../../src/actor/rpc.ts";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import {
  actorNow,
  evict,
  expectReplays,
  actorOf,
  records,
  sent,
  spawned,
} from "../support/actors.ts";
import { call, fresh } from "../support/api.ts";

const COUNTER = {
  initial: "on",
  context: { n: 0 },
  states: {
    on: {
      on: {
        ADD: {
          actions: {
            type: "@xstate.assign",
            context: { n: { "@expr": "context.n + event.by" } },
          },
        },
        END: "off",
      },
      after: { "60000": "late" },
    },
    late: { on: { ADD: {} } },
    off: { type: "final" },
  },
};

const FROM = { id: "sender", uid: "5".repeat(32) };

function message(id: string, more: Partial<MessageCommand> = {}): MessageCommand {
  return {
    tenant: DEFAULT_TENANT,
    id,
    from: FROM,
    ref: "7:0",
    type: "ADD",
    payload: { by: 2 },
    ...more,
  };
}

const control = (id: string, action: string) =>
  call("POST", `/v1/actors/${id}/${action}`, { body: {} });

describe("a message", () => {
  test("is an event with a record that names its sender", async () => {
    const id = await spawned(COUNTER);
    const reply = await actorOf(id).receive(message(id));
    expect(reply).toMatchObject({ ok: true, status: 200, body: { seq: 2 } });
    expect((await actorNow(id)).context).toEqual({ n: 2 });
    expect((await records(id))[1]).toMatchObject({
      kind: "message",
      type: "ADD",
      payload: { by: 2 },
      key: `${FROM.uid}:7:0`,
      by: "actor:sender",
      principal: null,
      handled: true,
    });
    await expectReplays(id);
  });

  test("acts once, however often it comes, also at once and after the object slept", async () => {
    const id = await spawned(COUNTER);
    await Promise.all(Array.from({ length: 5 }, () => actorOf(id).receive(message(id))));
    await evict(id);
    const again = await actorOf(id).receive(message(id));
    expect(again).toMatchObject({ ok: true, replayed: true, body: { seq: 2 } });
    await actorOf(id).receive(message(id, { ref: "7:1" }));
    expect((await actorNow(id)).context).toEqual({ n: 4 });
    expect(await records(id)).toHaveLength(3);
  });

  test("that the machine has no use for is recorded", async () => {
    const id = await spawned(COUNTER);
    await actorOf(id).receive(message(id, { type: "WHAT", payload: null }));
    expect((await records(id))[1]).toMatchObject({ handled: false, reason: "no_transition" });
  });

  test("finds the timers fired that were due before it", async () => {
    const id = await spawned({ ...COUNTER, states: { ...COUNTER.states } });
    await call("POST", `/v1/actors/${id}/clock/advance`, { body: { ms: 60_000 }, key: null });
    await actorOf(id).receive(message(id));
    expect((await records(id)).at(-1)).toMatchObject({ kind: "message", reason: "forbidden" });
  });

  test("is refused where nobody can take it now, and leaves its key free", async () => {
    const id = await spawned(COUNTER);
    await control(id, "pause");
    expect(await actorOf(id).receive(message(id))).toMatchObject({
      failure: { code: "actor_not_active", extra: { actorStatus: "paused" } },
    });
    await control(id, "resume");
    expect(await actorOf(id).receive(message(id))).toMatchObject({ ok: true });
    expect((await actorNow(id)).context).toEqual({ n: 2 });
    await sent(id, "END");
    expect(await actorOf(id).receive(message(id, { ref: "8:0" }))).toMatchObject({
      failure: { code: "actor_not_active", extra: { actorStatus: "done" } },
    });
    // A repeat of what it took is still answered.
    expect(await actorOf(id).receive(message(id))).toMatchObject({ ok: true, replayed: true });
  });

  test("to nobody, or to another life of the id, is refused", async () => {
    const id = fresh("a");
    const gone = { failure: { code: "actor_not_found" } };
    expect(await actorOf(id).receive(message(id))).toMatchObject(gone);
    await spawned(COUNTER, { id });
    const other = message(id, { expect: { uid: "6".repeat(32) } });
    expect(await actorOf(id).receive(other)).toMatchObject(gone);
  });

  test.each(["xstate.done.actor.x", "@timer:a:1", "!A", "*", "", "A*", "\ud800"])(
    "of the type %j is refused: no caller may send it",
    async (type) => {
      const id = await spawned(COUNTER);
      expect(await actorOf(id).receive(message(id, { type }))).toMatchObject({
        failure: { code: "event_type_reserved" },
      });
      expect(await records(id)).toHaveLength(1);
    },
  );

  test("does not take the place of a caller's event that has its key", async () => {
    const id = await spawned(COUNTER);
    await sent(id, "ADD", { by: 1 }, { key: `${FROM.uid}:7:0` });
    expect(await actorOf(id).receive(message(id))).toMatchObject({
      failure: { code: "idempotency_key_reused" },
    });
    expect((await actorNow(id)).context).toEqual({ n: 1 });
  });
});
