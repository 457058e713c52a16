import { env } from "cloudflare:workers";
import { evictDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { DEFAULT_TENANT, shardNames } from "../../src/base/ids.ts";
import { shardCount } from "../../src/directory/shards.ts";
import { codeOf, fingerprintOf } from "../../src/fingerprint/kernel.ts";
import { confirm, mayMatch } from "../../src/migration/confirm.ts";
import { decideBatch } from "../../src/migration/decide.ts";
import { forgetRules } from "../../src/registry/rule-cache.ts";
import { evict, expectReplays, records, sqlIn } from "../support/actors.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import type { Body } from "../support/api.ts";
import { evictShard, sqlInShard } from "../support/directory.ts";
import {
  PAID,
  WAIVED,
  inForce,
  loanMachine,
  loanWithCheck,
  send,
  swept,
} from "../support/loans.ts";
import { collidingHashes, compiled, packedBy } from "../support/histories.ts";
import { registryObject } from "../support/registry.ts";
import { Family, chainOf, idOf, ok, read, standing } from "../support/rule-calls.ts";
import { newTenant } from "../support/tenants.ts";

// What is known to go wrong where live state machines are moved by their histories. Nothing of it may happen here, and each
// test is named by what that is.

afterEach(() => {
  vi.useRealTimers();
});

async function shards(): Promise<string[]> {
  return shardNames(DEFAULT_TENANT, (await shardCount(env, DEFAULT_TENANT, true)) ?? 0);
}

/** Runs SQL in every shard of the directory that has entries. */
async function inShards<Row>(sql: string, ...bindings: unknown[]): Promise<Row[]> {
  const all = await Promise.all(
    (await shards()).map(async (name) => {
      const tables = await sqlInShard(name, "SELECT 1 FROM sqlite_master WHERE name = 'entry'");
      return tables.length === 0 ? [] : await sqlInShard<Row>(name, sql, ...bindings);
    }),
  );
  return all.flat();
}

describe("histories are not mistaken for each other:", () => {
  const ALIKE: string[][][] = [
    [["AB", "C"], ["A", "BC"], ["ABC"]],
    [["RE", "START"], ["RESTART"]],
    [["UN", "PAID"], ["UNPAID"]],
  ];
  const cases = ALIKE.flatMap((group) =>
    group.map((path) => ({ group, path, match: path === group[0] ? "exact" : "prefix" })),
  );

  it("types that give one text when written one behind the other are no equal histories", async () => {
    const machine = chainOf([...new Set(ALIKE.flat().flat()), "NEXT"]);
    const prints = ALIKE.flat().map((types) => fingerprintOf(types));
    expect(new Set(prints).size).toBe(prints.length);
    await Promise.all(
      cases.map(async ({ group, path, match }) => {
        const family = await Family.of(machine);
        const paths = await Promise.all(group.map((types) => family.lived(types)));
        const own = group.map((types) => (types === path ? family.v2 : family.v1));
        const body = family.second({ historyPath: path, match });
        await family.planned(
          body,
          ({ match: n, diverged }) => n === 1 && diverged === group.length - 1,
        );
        const { counts } = await family.moved(body);
        expect(counts).toMatchObject({ match: 1, migrated: 1, diverged: group.length - 1 });
        expect(await standing(paths), JSON.stringify(path)).toEqual(own);
        // Nor by their own next event, nor while nobody sweeps.
        const late = await Promise.all(group.map((types) => family.lived(types)));
        expect(await standing(late)).toEqual(own);
        const next = await Promise.all([...paths, ...late].map((one) => send(one, "NEXT")));
        expect(next.map((answer) => answer.body.definitionId)).toEqual([...own, ...own]);
      }),
    );
  });

  it("types of one code, under a machine that takes any type, are no equal types", async () => {
    expect([codeOf("WAIVE_FEE"), codeOf("CQL_AOBL")]).toEqual([0xaaa0531a, 0xaaa0531a]);
    const any = chainOf(["*"]);
    const both = ["WAIVE_FEE", "CQL_AOBL"];
    for (const [taken, other] of [both, both.toReversed()] as [string, string][]) {
      const family = await Family.of(any);
      const [hers, his] = [await family.lived([taken]), await family.lived([other])];
      const excluded = await family.lived([other, "PAID"]);
      const { id, counts } = await family.moved(family.second({ historyPath: [taken] }));
      expect(counts.migrated).toBe(1);
      expect(await standing([hers, his])).toEqual([family.v2, family.v1]);
      const { items } = await read(`${his}/decisions`);
      expect(items).toMatchObject([{ ruleId: id, decision: "diverged", outcome: "none" }]);
      // Where the type is excluded, the one that shares its code is not.
      const rule = { match: "subsequence", historyPath: [`!${taken}`, "PAID"] };
      const body = { from: family.v1, to: family.v2, ...rule };
      const made = await ok(201, call("POST", "/v1/migrations", { body }));
      await swept(made.id);
      expect(await standing([excluded, his])).toEqual([family.v2, family.v1]);
    }
  });

  it("hashes that are all equal, of 32 and of 64 bits, decide nothing", async () => {
    const family = await Family.of(loanMachine("loan"));
    const [alice, bob] = [await family.lived(PAID), await family.lived(WAIVED)];
    const body = family.second({ historyPath: PAID }, loanWithCheck("loan"));
    await family.planned(body, ({ match, diverged }) => match === 1 && diverged === 1);
    // From here on every hash of Bob's that is kept anywhere is one of Alice's.
    const [own] = await sqlIn<{ steps: string }>(idOf(alice), "SELECT steps FROM actor");
    const print = fingerprintOf(PAID);
    const forge =
      "UPDATE actor SET steps = ?, snapshot = json_set(snapshot, '$.history.fingerprint', ?)";
    await sqlIn(idOf(bob), forge, own?.steps, print);
    await evict(idOf(bob));
    const [entry] = await inShards<{ steps: string }>(
      "SELECT steps FROM entry WHERE id = ?",
      idOf(alice),
    );
    expect(entry?.steps).toBeTruthy();
    await inShards("UPDATE entry SET steps = ? WHERE id = ?", entry?.steps, idOf(bob));
    expect((await read(bob)).historyFingerprint).toBe((await read(alice)).historyFingerprint);
    await family.planned(body, ({ match, diverged }) => match === 2 && diverged === 0);

    const rule = await family.moved(body);
    // Bob in each stage, whose codes say both times that he matches.
    expect(rule.sweep.woken).toBe(3);
    expect(rule.counts.migrated).toBe(1);
    expect(await standing([alice, bob])).toEqual([family.v2, family.v1]);
    const { items } = await read(`${bob}/decisions`);
    expect(items).toMatchObject([{ decision: "diverged", outcome: "none", decidedAtSeq: 3 }]);
    expect((await send(bob, "UPLOAD")).body).toMatchObject({
      definitionId: family.v1,
      migratedTo: null,
    });

    // The same where hashes are made: all of them one.
    const hashes = collidingHashes(1);
    const blind = compiled({ match: "prefix", historyPath: PAID }, null, hashes);
    const fingerprint = hashes.fingerprint(WAIVED);
    expect(mayMatch(blind, { length: WAIVED.length, fingerprint })).toBe(true);
    const [screened] = decideBatch([blind], packedBy(hashes, WAIVED));
    expect(screened?.of(0)).toMatchObject({ decision: "match", sure: false });
    expect(confirm(blind, WAIVED).decision).toBe("diverged");
  });
});

describe("a path means one thing:", () => {
  it("who has gone on since, or was refused something on the way, is not passed over", async () => {
    const family = await Family.of(loanMachine("loan"));
    const further = await family.lived([...PAID, "UPLOAD"]);
    const refused = await family.lived([]);
    for (const type of ["PAY_FEE", "SUBMIT_INFO", "UPLOAD", "PAY_FEE"]) {
      expect((await send(refused, type, { applicant: "Alice", amount: 80 })).status).toBe(200);
    }
    const busy = await family.lived(PAID);
    const body = family.second({ historyPath: PAID }, loanWithCheck("loan"));
    const { rule } = await ok(201, family.deploy(body));
    // An event between the deploy and the sweep ends nothing.
    await send(busy, "UPLOAD");
    const done = await swept(rule.id);
    expect(done.counts).toMatchObject({ match: 3, migrated: 3, failed: 0 });
    expect(await standing([further, refused, busy])).toEqual([family.v2, family.v2, family.v2]);
    const told = { decision: "match", outcome: "migrated" };
    expect((await read(`${further}/decisions`)).items).toMatchObject([
      { ...told, decidedAtSeq: 3 },
    ]);
  });

  it("no part of the system reads a path in another way than the others", async () => {
    const histories = [
      ["A", "B"],
      ["A", "B", "C"],
      ["C", "A", "B"],
      ["A", "C", "B"],
      ["A"],
      ["B", "A"],
    ];
    // m: match, d: diverged, p: pending
    const READINGS = [
      [{}, "mmddpd"],
      [{ match: "prefix" }, "mmddpd"],
      [{ match: "exact" }, "mdddpd"],
      [{ match: "subsequence" }, "mmmmpp"],
    ] as const;
    const letters = { m: "match", d: "diverged", p: "pending" };
    await Promise.all(
      READINGS.map(async ([reading, expected]) => {
        const family = await Family.of(chainOf(["A", "B", "C"]));
        const paths = await Promise.all(histories.map((types) => family.lived(types)));
        const body = family.second({ historyPath: ["A", "B"], ...reading });
        const said = [...expected] as ("m" | "d" | "p")[];
        const count = (letter: string) => said.filter((one) => one === letter).length;
        const plan = await family.planned(
          body,
          ({ match, pending, diverged }) =>
            match === count("m") && pending === count("p") && diverged === count("d"),
        );
        expect(plan.sampleIds.match.toSorted()).toEqual(
          paths
            .filter((_, n) => said[n] === "m")
            .map(idOf)
            .toSorted()
            .slice(0, 5),
        );
        const rule = await family.moved(body);
        expect(rule.match).toBe(body && "match" in reading ? reading.match : "prefix");
        expect(rule.counts).toMatchObject({
          match: count("m"),
          migrated: count("m"),
          pending: count("p"),
          diverged: count("d"),
        });
        const wanted = said.map((one) => (one === "m" ? family.v2 : family.v1));
        expect(await standing(paths)).toEqual(wanted);
        const decided = await Promise.all(paths.map((path) => read(`${path}/decisions`)));
        expect(decided.map(({ items }) => items[0].decision)).toEqual(
          said.map((one) => letters[one]),
        );
        // Actors that come there while the rule is in force. An exact history is one at the moment that it is.
        const late = await Promise.all(histories.map((types) => family.lived(types)));
        const inline = histories.map((types, n) =>
          said[n] === "m" || (expected === "mdddpd" && types.join("") === "ABC")
            ? family.v2
            : family.v1,
        );
        expect(await standing(late)).toEqual(inline);
      }),
    );
  });
});

describe("a rule is about actors of its own definition:", () => {
  it("no rule or root of another family, or of another tenant, touches an actor or hides its rule", async () => {
    const { apiKey } = await newTenant();
    const name = fresh("twins");
    const other = { apiKey };
    // Two tenants with the same family and ids, and a second family with the same types.
    const mine = await Family.of(loanMachine("loan"), {}, name);
    const theirs = await Family.of(loanMachine("loan"), other, name);
    const sibling = await Family.of(loanMachine("loan"));
    const bystanders: [string, object][] = [];
    for (const types of [[], PAID, WAIVED]) {
      bystanders.push([await mine.lived(types), {}], [await theirs.lived(types), other]);
    }
    const look = () => Promise.all(bystanders.map(([path, options]) => read(path, options)));
    const before = await look();

    // Earlier, with the same path, and one that takes everyone.
    const first = await sibling.moved(sibling.second({ historyPath: PAID }, loanWithCheck("loan")));
    expect(first.counts).toMatchObject({ match: 0, migrated: 0, pending: 0, diverged: 0 });
    const third = {
      ...sibling.second({ match: "all" }, loanWithCheck("loan")),
      id: `${sibling.name}-v3`,
    };
    await sibling.moved(third);
    await Family.of(loanMachine("loan"));
    const root = { id: `${name}-root`, definition: loanWithCheck(name) };
    await ok(201, call("PUT", "/v1/definitions", { body: root }));
    const rivals = await theirs.moved(theirs.second({ historyPath: WAIVED }));
    expect(rivals.counts).toMatchObject({ match: 1, migrated: 1, diverged: 1, pending: 1 });
    const untouched = (all: Body[]) => all.filter((_, n) => n !== 5);
    expect(untouched(await look())).toEqual(untouched(before));
    expect((await look())[5]).toMatchObject({ definitionId: theirs.v2 });

    // And the earlier ones do not stand in the way.
    const rule = await mine.moved(mine.second({ historyPath: PAID }, loanWithCheck("loan")));
    expect(rule.counts).toMatchObject({ match: 1, migrated: 1, diverged: 1, pending: 1 });
    const own = bystanders.filter((_, n) => n % 2 === 0).map(([path]) => path);
    expect(await standing(own)).toEqual([mine.v1, mine.v2, mine.v1]);
    const foreign = bystanders.filter((_, n) => n % 2 === 1).map(([path]) => path);
    expect(await standing(foreign, other)).toEqual([theirs.v1, theirs.v1, theirs.v2]);
    for (const path of own) {
      const { items } = await read(`${path}/decisions`);
      expect(items.map(({ ruleId }: Body) => ruleId)).toEqual([rule.id]);
    }
  });

  it("no clock skips actors that were born before a restart", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
    const family = await Family.of(loanMachine("loan"));
    const old = [await family.lived(PAID), await family.lived([...PAID, "UPLOAD"])];
    const waiting = await family.lived(["SUBMIT_INFO"]);
    // The server starts again, with nothing in memory, and on a clock that is behind the one before.
    for (const path of [...old, waiting]) await evict(idOf(path));
    for (const name of await shards()) await evictShard(name);
    await evictDurableObject(registryObject(DEFAULT_TENANT));
    forgetRules(DEFAULT_TENANT);
    vi.useRealTimers();

    const body = family.second({ historyPath: PAID }, loanWithCheck("loan"));
    const rule = await family.moved(body);
    expect(rule.counts).toMatchObject({ match: 2, migrated: 2, pending: 1 });
    const { inForceAt } = rule;
    expect(Date.parse((await read(waiting)).createdAt)).toBeGreaterThan(Date.parse(inForceAt));
    expect(await standing(old)).toEqual([family.v2, family.v2]);
    expect((await send(waiting, "PAY_FEE", { amount: 80 })).body.migratedTo).toBe(family.v2);
    const young = await family.lived(PAID);
    expect(await standing([young])).toEqual([family.v2]);
  });
});

describe("a preview", () => {
  it("does not tell of rules that there are, and leaves no trace", async () => {
    const { apiKey } = await newTenant();
    const family = await Family.of(loanMachine("loan"), { apiKey });
    const alice = await family.lived(PAID);
    const bob = await family.lived(WAIVED);
    // There is a rule already, by which nobody goes.
    const taken = family.second({ historyPath: ["SUBMIT_INFO", "UPLOAD"] }, loanWithCheck("loan"));
    await family.moved(taken);
    const everything = () =>
      Promise.all(
        [
          "/v1/definitions",
          "/v1/migrations",
          ...[alice, bob].flatMap((path) => [path, `${path}/events`, `${path}/decisions`]),
        ].map(async (path) => {
          const { asOf: _, ...body } = await read(path, { apiKey });
          return body;
        }),
      );
    const before = await everything();
    const id = `${family.name}-v3`;
    const of = (rule: object) => ({ ...family.second(rule, loanWithCheck("loan")), id });
    const own = await family.planned(of({ historyPath: PAID }), ({ match }) => match === 1);
    expect(own.sampleIds).toMatchObject({ match: [idOf(alice)], diverged: [idOf(bob)] });
    const his = await family.planned(of({ historyPath: WAIVED }), ({ match }) => match === 1);
    expect(his.sampleIds).toMatchObject({ match: [idOf(bob)], diverged: [idOf(alice)] });
    expect((await family.preview(of({ match: "all" }))).body).toMatchObject({ match: 2, total: 2 });
    const body = { from: family.v1, to: family.v2, historyPath: PAID, replay: { sample: 5 } };
    const ruled = await ok(200, call("POST", "/v1/migrations/preview", { apiKey, body }));
    expect(ruled).toMatchObject({ match: 1, replay: [{ actorId: idOf(alice), ran: true }] });
    expect(await everything()).toEqual(before);
    expectProblem(
      await call("GET", `/v1/definitions/${id}`, { apiKey }),
      404,
      "definition_not_found",
    );
  });
});

describe("a deploy of an id that is there", () => {
  it("with another mapping is neither an error of ours nor taken for the same", async () => {
    const family = await Family.of(loanMachine("loan"));
    const body = family.second({ historyPath: PAID }, loanWithCheck("loan"));
    const { rule } = await ok(201, family.deploy(body));
    for (const more of [
      { stateMapping: { review: "income_check" } },
      { contextMapping: { checked: false } },
    ]) {
      const answer = await family.deploy({ ...body, ...more });
      expectProblem(answer, 409, "definition_exists");
      expect(answer.body.differs.rule.deployed).toMatchObject({ stateMapping: {} });
    }
    // What is meant by it has a call of its own.
    const mapped = { historyPath: PAID, stateMapping: { review: "income_check" } };
    const mended = { from: family.v1, to: family.v2, ...mapped, replaces: rule.id };
    await ok(201, call("POST", "/v1/migrations", { body: mended }));
    const again = await family.deploy(body);
    expect(again).toMatchObject({ status: 200, body: { idempotent: true } });
  });

  it("with another machine is not answered as if it were deployed", async () => {
    const family = await Family.of(loanMachine("loan"));
    await family.lived(PAID);
    await family.moved(family.second({ historyPath: PAID }, loanWithCheck("loan")));
    const other = await family.deploy(family.second({ historyPath: PAID }, loanMachine("loan")));
    expectProblem(other, 409, "definition_exists");
    expect(other.body.differs.definition.statesRemoved).toEqual(["income_check"]);
    const { definition } = await read(`/v1/definitions/${family.v2}`);
    expect(definition.states).toHaveProperty("income_check");
  });
});

/** Two regions, one of them with states in states. */
function nested(more: object = {}): object {
  return {
    initial: "idle",
    context: { n: 0 },
    states: {
      idle: { on: { START: "work" } },
      work: {
        type: "parallel",
        states: {
          papers: {
            initial: "first",
            states: {
              first: { on: { DEEPER: "second" } },
              second: {
                initial: "left",
                entry: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } },
                states: { left: { on: { TURN: "right" } }, right: {} },
              },
            },
          },
          money: { initial: "owed", states: { owed: { on: { PAY: "paid" } }, paid: {} } },
          ...more,
        },
      },
      over: {},
    },
  };
}

const DEEP = ["START", "DEEPER", "TURN", "PAY"];
const STOOD = { work: { papers: { second: "right" }, money: "paid" } };

/** The same without a state of the innermost kind, or of a region. */
function without(path: readonly string[]): object {
  const machine = structuredClone(nested()) as Body;
  const parent = path.slice(0, -1).reduce((node, key) => node.states[key], machine);
  delete parent.states[path.at(-1) as string];
  for (const state of Object.values<Body>(parent.states)) delete state.on;
  return machine;
}

describe("who has no place", () => {
  it("is not overlooked because he stands deep inside, or in one region of several", async () => {
    const CASES = [
      [without(["work", "papers", "second", "right"]), {}, "state_missing"],
      [without(["work", "money", "paid"]), {}, "state_missing"],
      [nested({ third: { initial: "x", states: { x: {} } } }), {}, "region_missing"],
      [nested(), { stateMapping: { "work.papers": "work.money" } }, "state_missing"],
    ] as const;
    await Promise.all(
      CASES.map(async ([machine, mapping, code]) => {
        const family = await Family.of(nested());
        const path = await family.lived(DEEP);
        await family.lived(["START"]);
        const body = family.second({ historyPath: DEEP, ...mapping }, machine);
        await family.planned(body, ({ match, pending }) => match === 1 && pending === 1);
        const refused = await family.deploy(body);
        expectProblem(refused, 409, "migration_needs_confirmation");
        expect(refused.body.plan.unmappable).toEqual([
          {
            stateValue: STOOD,
            count: 1,
            reason: expect.stringContaining(code),
            sampleIds: [idOf(path)],
          },
        ]);
        expectProblem(
          await call("GET", `/v1/definitions/${family.v2}`),
          404,
          "definition_not_found",
        );
      }),
    );
  });

  it("is not taken to have one by a mapping to states that do not exist", async () => {
    const family = await Family.of(nested());
    await family.lived(DEEP);
    const machine = without(["work", "papers", "second", "right"]);
    for (const target of [
      "nowhere",
      "work.papers.second.right",
      "work.papers.second.left.deep",
      "work",
      "",
    ]) {
      const stateMapping = { "work.papers.second.right": target };
      const body = family.second({ historyPath: DEEP, stateMapping }, machine);
      for (const answer of [await family.deploy(body), await family.preview(body)]) {
        expectProblem(answer, 422, "migration_invalid");
        expect(answer.body.errors[0].pointer).toContain("/stateMapping/");
      }
    }
  });

  it("is asked about on the rule's own definition, and older ones are left alone", async () => {
    const family = await Family.of(nested());
    const grandchild = await family.lived(DEEP);
    await ok(201, family.deploy(family.second({})));
    const machine = without(["work", "money", "paid"]);
    const third = {
      id: `${family.name}-v3`,
      definition: { ...machine, id: family.name },
      parentId: family.v2,
      match: "all",
    };
    const before = await read(grandchild);
    const { counts } = await family.moved(third);
    expect(counts).toMatchObject({ match: 0, migrated: 0, unmappable: 0 });
    expect(await read(grandchild)).toEqual(before);
  });

  it("is not started anew in the new version's first state, nor put into a state that there is not", async () => {
    const family = await Family.of(nested());
    const path = await family.lived(DEEP);
    const before = await read(path);
    const machine = without(["work", "papers", "second", "right"]);
    const { id, counts } = await family.moved(family.second({ historyPath: DEEP }, machine), true);
    expect(counts).toMatchObject({ migrated: 0, unmappable: 1 });
    const { seq, needsAttention, updatedAt: _, ...same } = await read(path);
    expect({ ...before, ...same }).toEqual({ ...before });
    expect(seq).toBe(before.seq + 1);
    expect(needsAttention).toMatchObject([{ reason: "unmappable" }]);

    // Mapped, it lands there and nowhere else, in every region, and nothing is entered a second time.
    const mapped = {
      from: family.v1,
      to: family.v2,
      historyPath: DEEP,
      stateMapping: { "work.papers.second.right": "work.papers.second.left" },
      replaces: id,
    };
    const mended = await ok(201, call("POST", "/v1/migrations", { body: mapped }));
    await swept(mended.id);
    expect(await read(path)).toMatchObject({
      definitionId: family.v2,
      stateValue: { work: { papers: { second: "left" }, money: "paid" } },
      context: { n: 1 },
      needsAttention: [],
    });
    await expectReplays(idOf(path));
  });

  it("does not change definition by a move that fails, for whatever reason", async () => {
    const spin = { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } };
    const guard = { "@expr": "context.n >= 0" };
    const loop = { always: { target: "s1", reenter: true, guard, actions: spin } };
    const wrong = { type: "@xstate.assign", context: { n: { "@expr": "context.none.x" } } };
    const broken = { always: { target: "s2", actions: wrong } };
    const FAILS = [
      ["state_missing", { initial: "off", context: { n: 0 }, states: { off: {} } }, {}],
      ["context_failed", chainOf(["A"]), { contextMapping: { "n.deep": 1 } }],
      ["context_failed", chainOf(["A"]), { contextMapping: { n: { "@expr": "context.none.x" } } }],
      ["limit_exceeded", chainOf(["A"], { s1: loop }), {}],
      ["step_failed", chainOf(["A"], { s1: broken }), {}],
    ] as const;
    const runs = FAILS.flatMap((one) =>
      (["stay", "strand"] as const).map((onUnmappable) => [...one, onUnmappable] as const),
    );
    await Promise.all(
      runs.map(async ([code, machine, mapping, onUnmappable]) => {
        const family = await Family.of(chainOf(["A"]));
        const path = await family.lived(["A"]);
        const { stateValue, context } = await read(path);
        const rule = { historyPath: ["A"], onUnmappable, ...mapping };
        const { id, counts } = await family.moved(family.second(rule, machine), true);
        expect(counts, code).toMatchObject({ migrated: 0, unmappable: 1, failed: 0 });
        const outcome = onUnmappable === "stay" ? "unmappable" : "stranded";
        const kept = { definitionId: family.v1, stateValue, context };
        const status = onUnmappable === "stay" ? "active" : "stranded";
        expect(await read(path)).toMatchObject({ ...kept, status });
        const { items } = await read(`/v1/migrations/${id}/items?outcome=${outcome}`);
        const reason = expect.stringContaining(`${code}: `);
        expect(items).toMatchObject([{ actorId: idOf(path), outcome, reason }]);
        expect((await read(`/v1/actors?definitionId=${family.v2}`)).items).toEqual([]);
        expect((await read(`/v1/actors?definitionId=${family.v1}`)).items).toHaveLength(1);
        const log = await records(idOf(path));
        expect(log.at(-1)).toMatchObject({ kind: "migrated", error: { code: "unmappable" } });
        await expectReplays(idOf(path));
        // Tried again by each record, and fails again.
        const sent = await send(path, "NOTHING");
        if (onUnmappable === "strand") return expectProblem(sent, 409, "actor_not_active");
        expect(sent.body).toMatchObject({ handled: false, definitionId: family.v1 });
      }),
    );
  });
});

describe("what was confirmed", () => {
  it("is not another body than the one that was seen", async () => {
    const family = await Family.of(chainOf(["A"]));
    await family.lived(["A"]);
    const gone = { initial: "off", context: { n: 0 }, states: { off: {} } };
    const body = family.second({ historyPath: ["A"] }, gone);
    const { confirmToken } = await family.planned(body, ({ match }) => match === 1);
    const machine = { ...gone, states: { ...gone.states, more: {} } };
    for (const other of [
      family.second({ historyPath: ["A"] }, machine),
      family.second({ match: "all" }, gone),
      family.second({ historyPath: ["A"], onUnmappable: "strand" }, gone),
      family.second({ historyPath: ["A"], contextMapping: { x: 1 } }, gone),
      { ...body, id: `${family.name}-v3` },
    ]) {
      const answer = await family.deploy({ ...other, confirmToken });
      expectProblem(answer, 409, "migration_needs_confirmation");
      expect(answer.body.reason).toBe("token_of_another_body");
    }
    const { rule } = await ok(201, family.deploy({ ...body, confirmToken }));
    await inForce(rule);
  });
});
