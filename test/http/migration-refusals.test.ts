import { beforeAll, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { call, deployDoor, expectProblem, fresh } from "../support/api.ts";
import { deployLoan, loanMachine, loanWithCheck, secondVersion } from "../support/loans.ts";
import type { Loans } from "../support/loans.ts";
import { newTenant } from "../support/tenants.ts";

const NO_RULE = "r_0123456789abcdef";

/** Every member of a rule, alone, that says nothing of who moves. */
const ABOUT_NOBODY = [
  { match: "prefix" },
  { match: "exact" },
  { since: "entry" },
  { percent: 10 },
  { stateMapping: {} },
  { contextMapping: {} },
  { onUnmappable: "strand" },
];

const MISSHAPEN = [
  [{ historyPath: "PAY" }, "/historyPath must be an array"],
  [{ historyPath: [1] }, "/historyPath/0 must be a string"],
  [{ match: "most" }, "/match must be one of prefix, subsequence, exact, all"],
  [{ since: "now" }, "/since must be one of birth, entry"],
  [{ stateMapping: [] }, "/stateMapping must be an object of state paths"],
  [{ stateMapping: { a: 1 } }, "/stateMapping must be an object of state paths"],
  [{ stateMapping: { a: [] } }, "/stateMapping must be an object of state paths"],
  [{ contextMapping: [] }, "/contextMapping must be a JSON object"],
  [{ contextMapping: { a: { xstate$$type: 1 } } }, "xstate$$type"],
  [{ onUnmappable: "drop" }, "/onUnmappable must be one of stay, strand"],
  [{ percent: -1 }, "/percent must be at least 0"],
  [{ percent: 100.5 }, "/percent must be at most 100"],
  [{ percent: "5" }, "/percent must be a number"],
  [{ confirmToken: 5 }, "/confirmToken must be a string"],
  [{ replay: { sample: 0 } }, "/replay/sample must be at least 1"],
  [{ replay: { sample: LIMITS.planReplays + 1 } }, "/replay/sample must be at most 20"],
  [{ replay: {} }, "/replay/sample is required"],
] as const;

let loans: Loans;

beforeAll(async () => {
  loans = await deployLoan();
}, 60_000);

describe.each([
  ["PUT", "/v1/definitions"],
  ["POST", "/v1/definitions/preview"],
])("a deploy with a rule, by %s %s,", (method, path) => {
  const ask = (body: object) => call(method, path, { body });
  const preview = path.endsWith("preview");

  it("needs a parent to move from", async () => {
    const { parentId: _, ...orphan } = secondVersion(loans) as { parentId: string };
    for (const body of [orphan, { ...orphan, parentId: null }]) {
      const answer = await ask(body);
      expectProblem(answer, 400, "invalid_request");
      expect(answer.body.detail).toBe("historyPath needs a parentId to move from.");
      expect(answer.body.errors[0].pointer).toBe("/parentId");
    }
    const all = { ...orphan, historyPath: undefined, match: "all" };
    expectProblem(await ask(all), 400, "invalid_request");
  });

  it("says who moves", async () => {
    const body = secondVersion(loans, { historyPath: undefined });
    for (const more of ABOUT_NOBODY) {
      const answer = await ask({ ...body, ...more });
      expectProblem(answer, 400, "invalid_request");
      expect(answer.body.detail).toContain(`${Object.keys(more)[0]} is about who moves`);
      expect(answer.body.errors[0].pointer).toBe("/historyPath");
    }
  });

  it("is well-formed", async () => {
    for (const [more, said] of MISSHAPEN) {
      if ("replay" in more && !preview) continue;
      const answer = await ask(secondVersion(loans, more));
      expectProblem(answer, 400, "invalid_request");
      expect(answer.body.detail).toContain(said);
    }
    const unknown = await ask(secondVersion(loans, { mapping: {} }));
    expectProblem(unknown, 400, "unknown_field");
    if (!preview) {
      expectProblem(
        await ask(secondVersion(loans, { replay: { sample: 1 } })),
        400,
        "unknown_field",
      );
    }
  });

  it("has a parent that there is, of its family", async () => {
    const unknown = await ask(secondVersion(loans, { parentId: "no-such" }));
    expectProblem(unknown, 404, "parent_not_found");
    const other = await ask(secondVersion(loans, { parentId: await deployDoor() }));
    expectProblem(other, 422, "family_mismatch");
  });

  it("has a parent that was not retired", async () => {
    const gone = await deployLoan();
    expect((await call("DELETE", `/v1/definitions/${gone.v1}`)).status).toBe(204);
    expectProblem(await ask(secondVersion(gone)), 404, "parent_not_found");
  });

  it("has an id that was not retired", async () => {
    const gone = await deployLoan();
    const lineage = secondVersion(gone, { historyPath: undefined });
    expect((await call("PUT", "/v1/definitions", { body: lineage })).status).toBe(201);
    expect((await call("DELETE", `/v1/definitions/${gone.v2}`)).status).toBe(204);
    expectProblem(await ask(secondVersion(gone)), 409, "definition_exists");
  });

  it("of a machine that is not valid is refused for that", async () => {
    const definition = loanMachine(loans.family, { review: { on: { APPROVE: "nowhere" } } });
    const answer = await ask(secondVersion(loans, { definition }));
    expectProblem(answer, 422, "definition_invalid");
  });

  it("is one that can be meant", async () => {
    for (const [more, pointer, code] of [
      [{ historyPath: [] }, "/historyPath", "path_empty"],
      [{ match: "all" }, "/historyPath", "path_not_empty"],
      [{ historyPath: ["!PAY_FEE", "PAY_FEE"] }, "/historyPath/0", "misplaced_exclusion"],
      [{ historyPath: ["A", "!B"], match: "subsequence" }, "/historyPath/1", "trailing_exclusion"],
      [{ historyPath: ["xstate.done"] }, "/historyPath/0", "reserved_event_type"],
      [{ historyPath: ["@nothing"] }, "/historyPath/0", "unknown_system_step"],
    ] as const) {
      const answer = await ask(secondVersion(loans, more));
      expectProblem(answer, 422, "migration_invalid");
      expect(answer.body.errors).toContainEqual(expect.objectContaining({ pointer, code }));
    }
    const names = Array.from({ length: LIMITS.pathNames + 1 }, () => "PAY_FEE");
    const long = await ask(secondVersion(loans, { historyPath: names }));
    expectProblem(long, 422, "migration_invalid");
    expect(long.body.errors[0].code).toBe("too_long");
  });

  it("maps states and contexts that there are", async () => {
    for (const more of [
      { stateMapping: { review: "nowhere" } },
      { stateMapping: { nowhere: "review" } },
      { stateMapping: { review: ["review", "awaiting_fee"] } },
      { stateMapping: JSON.parse('{"__proto__": "review"}') },
      { contextMapping: { feePaid: { "@expr": "context." } } },
      { contextMapping: { "": 1 } },
    ]) {
      const answer = await ask(secondVersion(loans, more));
      expectProblem(answer, 422, "migration_invalid");
      expect(answer.body.errors.length).toBeGreaterThan(0);
      for (const { pointer } of answer.body.errors) {
        expect(pointer).toMatch(/^\/(?:state|context)Mapping/);
      }
    }
  });

  it("stores nothing where it is refused", async () => {
    const answer = await call("GET", `/v1/definitions/${loans.v2}`);
    expectProblem(answer, 404, "definition_not_found");
  });
});

describe.each([
  ["POST", "/v1/migrations"],
  ["POST", "/v1/migrations/preview"],
])("a rule by %s %s", (method, path) => {
  const preview = path.endsWith("preview");
  let two: Loans;
  const ask = (more: object = {}, options: object = {}) => {
    const body = { from: two.v1, to: two.v2, historyPath: ["SUBMIT_INFO"], ...more };
    return call(method, path, { body, ...options });
  };

  beforeAll(async () => {
    two = await deployLoan();
    const body = { id: two.v2, definition: loanWithCheck(two.family), parentId: two.v1 };
    const answer = await call("PUT", "/v1/definitions", { body });
    expect(answer).toMatchObject({ status: 201, body: { rule: null } });
    expect(answer.body.warnings.at(-1).code).toBe("lineage_only");
  }, 60_000);

  it("says who moves, well-formed", async () => {
    const nobody = await ask({ historyPath: undefined });
    expectProblem(nobody, 400, "invalid_request");
    expect(nobody.body.detail).toBe('Say who moves, by a historyPath or by match "all".');
    for (const [more, said] of MISSHAPEN) {
      if ("replay" in more && !preview) continue;
      const answer = await ask(more);
      expectProblem(answer, 400, "invalid_request");
      expect(answer.body.detail).toContain(
        // Without a definition in it, the body as a whole is checked for the key.
        said === "xstate$$type" ? "which XState keeps for itself" : said,
      );
    }
    for (const more of [{ from: undefined }, { to: "" }, { to: 1 }, { replaces: [] }]) {
      expectProblem(await ask(more), 400, "invalid_request");
    }
  });

  it("is between two definitions that there are, of one family, the older first", async () => {
    for (const more of [{ from: "no-such" }, { to: "no-such" }]) {
      expectProblem(await ask(more), 404, "definition_not_found");
    }
    const gone = await deployLoan();
    const later = secondVersion(gone, { historyPath: undefined });
    expect((await call("PUT", "/v1/definitions", { body: later })).status).toBe(201);
    expect((await call("DELETE", `/v1/definitions/${gone.v1}`)).status).toBe(204);
    expectProblem(await ask({ from: gone.v1, to: gone.v2 }), 404, "definition_not_found");
    const other = await deployLoan();
    expectProblem(await ask({ to: other.v1 }), 422, "family_mismatch");
    expectProblem(await ask({ to: two.v1 }), 422, "migration_invalid");
    expectProblem(await ask({ from: two.v2, to: two.v1 }), 422, "migration_invalid");
  });

  it("is one that can be meant", async () => {
    const exclusion = await ask({ historyPath: ["!A"] });
    expectProblem(exclusion, 422, "migration_invalid");
    expectProblem(await ask({ stateMapping: { review: "nowhere" } }), 422, "migration_invalid");
  });

  it("replaces one that there is, from the same definition", async () => {
    for (const replaces of [NO_RULE, "r_x", "nothing"]) {
      expectProblem(await ask({ replaces }), 404, "rule_not_found");
    }
    const other = await deployLoan();
    const { rule } = (await call("PUT", "/v1/definitions", { body: secondVersion(other) })).body;
    expectProblem(await ask({ replaces: rule.id }), 422, "migration_invalid");
    await call("POST", `/v1/migrations/${rule.id}/retire`);
    expectProblem(await ask({ replaces: rule.id }), 409, "rule_retired");
  });

  it("is made once", async () => {
    const path = { historyPath: [fresh("EVENT")] };
    const first = await call("POST", "/v1/migrations", {
      body: { from: two.v1, to: two.v2, ...path },
    });
    expect(first.status).toBe(201);
    const again = await ask(path);
    expectProblem(again, 409, "rule_exists");
    expect(again.body.ruleId).toBe(first.body.id);
    // A share is changed, not made; and nothing else of a rule makes it another one.
    expectProblem(await ask({ ...path, percent: 5 }), 409, "rule_exists");
    expectProblem(await ask({ ...path, match: "prefix", stateMapping: {} }), 409, "rule_exists");
    const retired = await call("POST", `/v1/migrations/${first.body.id}/retire`);
    expect(retired.body.state).toBe("retired");
    expect((await ask(path)).status).toBe(preview ? 200 : 201);
  });

  it("is not made again of the rule of a deploy", async () => {
    const third = await deployLoan();
    const { rule } = (await call("PUT", "/v1/definitions", { body: secondVersion(third) })).body;
    const { from, to, historyPath } = rule;
    const again = await ask({ from, to, historyPath });
    expectProblem(again, 409, "rule_exists");
    expect(again.body.ruleId).toBe(rule.id);
  });

  it("needs the scope deploy, and a key where it makes something", async () => {
    const body = { label: "writer", scopes: ["read", "write"] };
    const { key: apiKey } = (await call("POST", "/v1/keys", { body })).body;
    expectProblem(await ask({}, { apiKey }), 403, "forbidden");
    if (!preview) expectProblem(await ask({}, { key: null }), 400, "idempotency_key_missing");
  });
});

describe("a rule that there is not", () => {
  const everyRoute = (id: string) =>
    [
      ["GET", `/v1/migrations/${id}`],
      ["GET", `/v1/migrations/${id}/items`],
      ["PATCH", `/v1/migrations/${id}`, { percent: 5 }],
      ["POST", `/v1/migrations/${id}/pause`],
      ["POST", `/v1/migrations/${id}/resume`],
      ["POST", `/v1/migrations/${id}/retire`],
      ["POST", `/v1/migrations/${id}/retry`],
    ] as const;

  it("is a 404 everywhere, as are ids that no rule can have", async () => {
    for (const id of [
      NO_RULE,
      "r_1",
      "preview",
      "R_0123456789ABCDEF",
      `${NO_RULE}0`,
      "%2e%2e%2f",
    ]) {
      for (const [method, path, body] of everyRoute(id)) {
        expectProblem(await call(method, path, body ? { body } : {}), 404, "rule_not_found");
      }
    }
  });

  it("is what another tenant's is", async () => {
    const other = await deployLoan();
    const { rule } = (await call("PUT", "/v1/definitions", { body: secondVersion(other) })).body;
    const { apiKey } = await newTenant();
    for (const [method, path, body] of everyRoute(rule.id)) {
      const answer = await call(method, path, { apiKey, ...(body ? { body } : {}) });
      expectProblem(answer, 404, "rule_not_found");
    }
    expect((await call("GET", "/v1/migrations", { apiKey })).body.items).toEqual([]);
    expect((await call("GET", `/v1/migrations/${rule.id}`)).body.percent).toBe(100);
  });

  it("is not what a list with a wrong cursor, or a percentage beyond all, is about", async () => {
    for (const [method, path, body, status, code] of [
      ["GET", "/v1/migrations?cursor=x", undefined, 400, "cursor_invalid"],
      ["GET", `/v1/migrations/${NO_RULE}/items?cursor=x`, undefined, 400, "cursor_invalid"],
      ["GET", `/v1/migrations/${NO_RULE}/items?outcome=lost`, undefined, 400, "invalid_request"],
      ["GET", "/v1/migrations?limit=0", undefined, 400, "invalid_request"],
      ["GET", `/v1/migrations?limit=${LIMITS.pageMost + 1}`, undefined, 400, "invalid_request"],
      ["GET", `/v1/migrations/${NO_RULE}/items?limit=0`, undefined, 400, "invalid_request"],
      ["PATCH", `/v1/migrations/${NO_RULE}`, { percent: 101 }, 400, "invalid_request"],
      ["PATCH", `/v1/migrations/${NO_RULE}`, { percent: 100.01 }, 400, "invalid_request"],
      ["PATCH", `/v1/migrations/${NO_RULE}`, { percent: -0.01 }, 400, "invalid_request"],
      ["PATCH", `/v1/migrations/${NO_RULE}`, { percent: "5" }, 400, "invalid_request"],
      ["PATCH", `/v1/migrations/${NO_RULE}`, { percent: null }, 400, "invalid_request"],
      ["PATCH", `/v1/migrations/${NO_RULE}`, {}, 400, "invalid_request"],
      ["PATCH", `/v1/migrations/${NO_RULE}`, { state: "paused" }, 400, "unknown_field"],
      ["POST", `/v1/migrations/${NO_RULE}/pause`, { reason: "x" }, 400, "unknown_field"],
    ] as const) {
      expectProblem(await call(method, path, body ? { body } : {}), status, code);
    }
  });
});

describe("a rule that there is", () => {
  it("takes every percentage from none to all, fractions too", async () => {
    const own = await deployLoan();
    const { rule } = (await call("PUT", "/v1/definitions", { body: secondVersion(own) })).body;
    for (const percent of [0, 0.01, 99.99, 100]) {
      const answer = await call("PATCH", `/v1/migrations/${rule.id}`, { body: { percent } });
      expect(answer).toMatchObject({ status: 200, body: { percent } });
    }
  });

  it("keeps the definitions at both of its ends, and no longer than it is there", async () => {
    const own = await deployLoan();
    const { rule } = (await call("PUT", "/v1/definitions", { body: secondVersion(own) })).body;
    await call("POST", `/v1/migrations/${rule.id}/pause`);
    for (const id of [own.v1, own.v2]) {
      const answer = await call("DELETE", `/v1/definitions/${id}`);
      expectProblem(answer, 409, "definition_in_use");
      expect(answer.body.ruleId).toBe(rule.id);
    }
    await call("POST", `/v1/migrations/${rule.id}/retire`);
    for (const id of [own.v1, own.v2]) {
      expect((await call("DELETE", `/v1/definitions/${id}`)).status).toBe(204);
    }
  });

  it("takes no cursor of another list", async () => {
    await deployLoan();
    const { nextCursor } = (await call("GET", "/v1/definitions?limit=1")).body;
    expect(nextCursor).toBeTruthy();
    const query = `cursor=${encodeURIComponent(nextCursor)}`;
    const own = await deployLoan();
    const { rule } = (await call("PUT", "/v1/definitions", { body: secondVersion(own) })).body;
    for (const path of ["/v1/migrations", `/v1/migrations/${rule.id}/items`]) {
      expectProblem(await call("GET", `${path}?${query}`), 400, "cursor_invalid");
    }
  });
});
