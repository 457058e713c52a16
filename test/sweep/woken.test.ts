import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Resident } from "../../src/actor/resident.ts";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import type { RuleInput } from "../../src/registry/rpc.ts";
import { evict, meterOf, ringAlarm, sent, spawned } from "../support/actors.ts";
import { call, fresh } from "../support/api.ts";
import { value } from "../support/directory.ts";
import { bodyOf } from "../support/registry.ts";
import { create, loan, loan2, ruleOf } from "../support/rules.ts";
import { until } from "../support/until.ts";

/** Who is woken is counted where an actor is read from its storage, not by what a sweep says of itself. */

const PATIENCE_MS = 60_000;
const EACH = 8;

/** Ids of actors whose objects have read them since this was emptied. */
const woken = new Set<string>();
const { load } = Resident.prototype;

beforeAll(() => {
  Resident.prototype.load = async function counted(this: Resident, ...by): Promise<void> {
    await load.apply(this, by);
    if (this.actor !== null) woken.add(this.actor.envelope.id);
  };
});
afterAll(() => {
  Resident.prototype.load = load;
});

interface Fleet {
  v1: string;
  v2: string;
  matching: string[];
  waiting: string[];
  diverged: string[];
}

const INTO = ["SUBMIT_INFO"];

/** Actors asleep, of whom the directory knows everything: no alarm is left that could wake them for another reason. */
async function asleep(
  lives: Record<"matching" | "waiting" | "diverged", string[][]>,
): Promise<Fleet> {
  const family = fresh("loan");
  const [v1, v2] = [`${family}-v1`, `${family}-v2`];
  const versions = [
    { id: v1, definition: loan(family) },
    { id: v2, definition: loan2(family), parentId: v1 },
  ];
  for (const body of versions) {
    // oxlint-disable-next-line no-await-in-loop
    const { status } = await call("PUT", "/v1/definitions", { body });
    expect(status).toBe(201);
  }
  const made = async (types: string[]): Promise<string> => {
    const id = await spawned(v1);
    for (const type of types) {
      // oxlint-disable-next-line no-await-in-loop
      await sent(id, type);
    }
    expect(await ringAlarm(id)).toBe(true);
    await evict(id);
    return id;
  };
  const many = async (kinds: string[][]): Promise<string[]> =>
    await Promise.all(kinds.flatMap((types) => Array.from({ length: EACH }, () => made(types))));
  const [matching, waiting, diverged] = [
    await many(lives.matching),
    await many(lives.waiting),
    await many(lives.diverged),
  ];
  return { v1, v2, matching, waiting, diverged };
}

async function swept({ v1, v2 }: Fleet, rule: RuleInput): Promise<void> {
  woken.clear();
  const registry = env.REGISTRY.getByName(DEFAULT_TENANT);
  const { id } = bodyOf(await create(registry, { from: v1, to: v2, rule }));
  const sweep = env.SWEEPS.getByName(`${DEFAULT_TENANT}/${id}`);
  const { state } = await until(
    async () => value(await sweep.progress()),
    (progress) => progress.state === "finished",
    PATIENCE_MS,
  );
  expect(state).toBe("finished");
}

async function expectAsleep({ matching, waiting, diverged }: Fleet): Promise<void> {
  const fleet = [...matching, ...waiting, ...diverged];
  // The count can fail: it sees those who were asked.
  expect(fleet.filter((id) => woken.has(id))).toEqual([...matching, ...waiting]);
  const meters = await Promise.all(diverged.map((id) => meterOf(id)));
  for (const meter of meters) expect(meter).toEqual({ rowsRead: 0, rowsWritten: 0, alarmsSet: 0 });
}

describe("who has diverged is never woken", () => {
  it("by a prefix", async () => {
    const fleet = await asleep({
      matching: [[...INTO, "PAY_FEE"]],
      waiting: [[], INTO],
      diverged: [
        [...INTO, "WAIVE_FEE"],
        [...INTO, "WAIVE_FEE", "UPLOAD"],
      ],
    });
    await swept(fleet, ruleOf());
    await expectAsleep(fleet);
  });

  it("by what a subsequence excludes", async () => {
    const fleet = await asleep({
      matching: [[...INTO, "PAY_FEE", "UPLOAD"]],
      waiting: [INTO, [...INTO, "PAY_FEE"]],
      diverged: [
        [...INTO, "WAIVE_FEE"],
        [...INTO, "WAIVE_FEE", "UPLOAD"],
      ],
    });
    await swept(fleet, ruleOf({ match: "subsequence", historyPath: ["!WAIVE_FEE", "UPLOAD"] }));
    await expectAsleep(fleet);
  });
});
