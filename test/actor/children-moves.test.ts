import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { actorNow, deployed, expectReplays, records, sent, spawned } from "../support/actors.ts";
import { outboxOf } from "../support/activities.ts";
import { call, fresh } from "../support/api.ts";
import { CHILD, actorWhen, parentOf } from "../support/children.ts";
import { ruled, useRules, versions, visited } from "../support/moves.ts";
import { until } from "../support/until.ts";

beforeEach(() => useRules());
afterEach(() => {
  vi.restoreAllMocks();
});

const exists = async (id: string): Promise<boolean> =>
  (await call("GET", `/v1/actors/${id}`)).status === 200;

/** A parent whose second version has moved its children's state, or has none for them any more; `before` there is a rule. */
async function movingParent(
  kept: boolean,
  before: (id: string, stem: string) => Promise<void> = async () => {},
) {
  const stem = fresh("child");
  const child = await deployed(CHILD);
  const first = parentOf({ definitionId: child, id: stem, forEach: [{ given: 1 }, { given: 2 }] });
  const second = JSON.parse(JSON.stringify(first).replaceAll('"waiting"', '"patience"'));
  if (!kept) delete second.states.patience.invoke;
  const [v1, v2] = await versions(first, second);
  const id = await spawned(v1!);
  await sent(id, "GO");
  await until(() => exists(`${stem}.1`), Boolean);
  await before(id, stem);
  const rule = await ruled(v1!, v2!, { stateMapping: { waiting: "patience" } });
  return { id, stem, v2, rule };
}

describe("a parent that moves", () => {
  test("takes its children along, and joins them in the new version", async () => {
    const { id, stem, v2, rule } = await movingParent(true);
    await sent(`${stem}.0`, "END");
    await actorWhen(id, ({ activities }) => activities[0].children.done === 1);
    expect(await visited(id, rule)).toEqual({ outcome: "migrated" });
    expect(await actorNow(id)).toMatchObject({ definitionId: v2, stateValue: "patience" });
    expect((await actorNow(`${stem}.1`)).status).toBe("active");
    await sent(`${stem}.1`, "END");
    const { context } = await actorWhen(id, ({ stateValue }) => stateValue === "joined");
    expect(context.got.map((one: { id: string }) => one.id)).toEqual([`${stem}.0`, `${stem}.1`]);
    expect((await records(id)).filter(({ kind }) => kind === "child_done")).toHaveLength(2);
    await expectReplays(id);
  });

  test("to where nobody waits for them terminates them", async () => {
    const { id, stem, rule } = await movingParent(false);
    expect(await visited(id, rule)).toEqual({ outcome: "migrated" });
    for (const index of [0, 1]) {
      await actorWhen(`${stem}.${index}`, ({ status }) => status === "terminated");
    }
    expect((await actorNow(id)).stateValue).toBe("patience");
    await expectReplays(id);
  });

  test("while it is paused terminates them too, whatever it has kept of one that ended", async () => {
    const { id, stem, rule } = await movingParent(false, async (parent, child) => {
      await call("POST", `/v1/actors/${parent}/pause`, { body: {} });
      await sent(`${child}.0`, "END");
      await until(
        () => outboxOf(parent),
        (items) => items.some(({ known }) => known !== undefined),
      );
    });
    expect(await visited(id, rule)).toEqual({ outcome: "migrated" });
    await actorWhen(`${stem}.1`, ({ status }) => status === "terminated");
    expect((await actorNow(id)).status).toBe("paused");
    await call("POST", `/v1/actors/${id}/resume`, { body: {} });
    await until(
      () => records(id),
      (log) => log.some(({ kind, reason }) => kind === "child_done" && reason === "late"),
    );
    await until(
      () => outboxOf(id),
      ({ length }) => length === 0,
    );
    await expectReplays(id);
  });
});

describe("messages", () => {
  test("on their way when their receiver moves are taken by the new version", async () => {
    const listening = (word: string) => ({
      initial: "on",
      context: { heard: "" },
      states: {
        on: {
          on: { TELL: { actions: { type: "@xstate.assign", context: { heard: word } } } },
        },
      },
    });
    const [v1, v2] = await versions(listening("old"), listening("new"));
    const to = await spawned(v1!);
    await call("POST", `/v1/actors/${to}/pause`, { body: {} });
    const id = await spawned({
      initial: "on",
      states: {
        on: { on: { GO: { actions: { type: "@xstate.sendTo", to, event: { type: "TELL" } } } } },
      },
    });
    await sent(id, "GO");
    const rule = await ruled(v1!, v2!);
    expect(await visited(to, rule)).toEqual({ outcome: "migrated" });
    await call("POST", `/v1/actors/${to}/resume`, { body: {} });
    await call("POST", `/v1/actors/${id}/clock/advance`, { body: { ms: 5_000 }, key: null });
    await actorWhen(to, ({ context }) => context.heard === "new");
    await expectReplays(to);
  });
});
