import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runInDurableObject } from "cloudflare:test";
import { LIMITS } from "../../src/base/limits.ts";
import { call, expectProblem } from "../support/api.ts";
import type { Answer, Body } from "../support/api.ts";
import { lowered } from "../support/limits.ts";
import { registryObject } from "../support/registry.ts";
import { Family, chainOf, idOf, ok } from "../support/rule-calls.ts";
import { newTenant } from "../support/tenants.ts";

let tenant: string;
let apiKey: string;
let family: Family;
const restores: (() => void)[] = [];

beforeEach(async () => {
  ({ tenant, apiKey } = await newTenant());
  family = await Family.of(chainOf(["A", "B"]), { apiKey });
  await ok(201, family.deploy(family.second({})));
});
afterEach(() => {
  for (const restore of restores.splice(0)) restore();
});

const post = (path: string, body: object) => call("POST", path, { apiKey, body });
const make = (more: object) =>
  post("/v1/migrations", { from: family.v1, to: family.v2, historyPath: ["A"], ...more });

function expectLimit(answer: Answer, limit: keyof typeof LIMITS): void {
  expectProblem(answer, 422, "limit_exceeded");
  expect(answer.body).toMatchObject({ limit, most: LIMITS[limit] });
}

describe("at the limit and not before is refused", () => {
  it("one more rule of a tenant, where retired and replaced ones do not count", async () => {
    restores.push(lowered("rulesPerTenant", 2));
    const first = await ok(201, make({ historyPath: ["B"] }));
    const second = await ok(201, make({ historyPath: ["C"] }));
    expectLimit(await make({}), "rulesPerTenant");
    const third = { ...family.second({ historyPath: ["A"] }), id: `${family.name}-v3` };
    expectLimit(await family.deploy(third), "rulesPerTenant");
    expectLimit(await family.preview(third), "rulesPerTenant");
    await ok(201, family.deploy({ ...third, historyPath: undefined }));
    await ok(201, make({ replaces: first.id }));
    expectLimit(await make({ historyPath: ["D"] }), "rulesPerTenant");
    await ok(200, post(`/v1/migrations/${second.id}/retire`, {}));
    await ok(201, make({ historyPath: ["D"] }));
    expectLimit(await make({ historyPath: ["B"] }), "rulesPerTenant");
  });

  it("one more rule that a tenant ever had, where all count", async () => {
    restores.push(lowered("rulesEver", 3));
    const ids: string[] = [];
    for (const name of ["B", "C", "D"]) {
      ids.push((await ok(201, make({ historyPath: [name] }))).id);
    }
    expectLimit(await make({}), "rulesEver");
    await ok(200, post(`/v1/migrations/${ids[0]}/retire`, {}));
    expectLimit(await make({}), "rulesEver");
    expectLimit(await make({ replaces: ids[1] }), "rulesEver");
    const third = { ...family.second({ historyPath: ["A"] }), id: `${family.name}-v3` };
    expectLimit(await family.deploy(third), "rulesEver");
    expectLimit(await family.preview(third), "rulesEver");
    await ok(201, family.deploy({ ...third, historyPath: undefined }));
  });

  it("one more rule from a definition, where retired and replaced ones do not count", async () => {
    restores.push(lowered("rulesPerDefinition", 2));
    const first = await ok(201, make({ historyPath: ["B"] }));
    const second = await ok(201, make({ historyPath: ["C"] }));
    expectLimit(await make({}), "rulesPerDefinition");
    await ok(201, make({ replaces: first.id }));
    expectLimit(await make({ historyPath: ["D"] }), "rulesPerDefinition");
    await ok(200, post(`/v1/migrations/${second.id}/retire`, {}));
    await ok(201, make({ historyPath: ["D"] }));
  });

  it("one more character of all rules", async () => {
    await ok(201, make({ historyPath: ["B"] }));
    const [{ n = 0 } = {}] = await runInDurableObject(registryObject(tenant), (_, { storage }) =>
      storage.sql.exec<{ n: number }>("SELECT SUM(LENGTH(body)) AS n FROM rules").toArray(),
    );
    expect(n).toBeGreaterThan(50);
    restores.push(lowered("rulesChars", 2 * n));
    expectLimit(await make({ historyPath: ["CC"] }), "rulesChars");
    const { id } = await ok(201, make({ historyPath: ["C"] }));
    expectLimit(await make({ historyPath: ["D"] }), "rulesChars");
    await ok(200, post(`/v1/migrations/${id}/retire`, {}));
    await ok(201, make({ historyPath: ["D"] }));
  });

  it("one more byte of mappings, in whatever language", async () => {
    const empty = JSON.stringify({ contextMapping: { x: "" }, stateMapping: {} }).length;
    const text = "ü".repeat((LIMITS.mappingBytes - empty) / 2);
    const rest = "x".repeat((LIMITS.mappingBytes - empty) % 2);
    await ok(201, make({ contextMapping: { x: `${text}${rest}` } }));
    for (const path of ["/v1/migrations", "/v1/migrations/preview"]) {
      const contextMapping = { x: `${text}${rest}x` };
      const body = { from: family.v1, to: family.v2, historyPath: ["A"], contextMapping };
      const answer = await post(path, body);
      expectProblem(answer, 422, "migration_invalid");
      expect(answer.body.errors).toMatchObject([{ code: "too_large" }]);
    }
  });

  it("one more name in a path, where excluded ones count", async () => {
    const names = Array.from({ length: LIMITS.pathNames - 1 }, (_, n) => `!X${n}`);
    const rule = { match: "subsequence", historyPath: [...names, "A"] };
    await ok(201, make(rule));
    const long = await make({ ...rule, historyPath: ["!Y", ...names, "A"] });
    expectProblem(long, 422, "migration_invalid");
    expect(long.body.errors).toMatchObject([{ pointer: "/historyPath", code: "too_long" }]);
  });

  it("one more growth of a share", async () => {
    restores.push(lowered("rampSteps", 3));
    const { id } = await ok(201, make({ percent: 0 }));
    const patch = (percent: number) =>
      call("PATCH", `/v1/migrations/${id}`, { apiKey, body: { percent } });
    for (const percent of [1, 2]) await ok(200, patch(percent));
    expectLimit(await patch(3), "rampSteps");
    await ok(200, patch(1));
    await ok(200, patch(3));
    expectLimit(await patch(100), "rampSteps");
    // A resume takes the share anew.
    for (const action of ["pause", "resume"])
      await ok(200, post(`/v1/migrations/${id}/${action}`, {}));
    await ok(200, patch(100));
  });
});

describe("a plan", () => {
  it("names so many actors of each kind, replays so many logs, and no more", async () => {
    const most = LIMITS.planReplays;
    const ids = (
      await Promise.all(Array.from({ length: most + 1 }, () => family.lived(["A"])))
    ).map(idOf);
    const third = { ...family.second({ historyPath: ["A"] }), id: `${family.name}-v3` };
    const plan = await family.planned(
      { ...third, replay: { sample: most } },
      ({ match }) => match === most + 1,
    );
    expect(plan.sampleIds.match).toHaveLength(LIMITS.planSamples);
    expect(new Set(plan.sampleIds.match).size).toBe(LIMITS.planSamples);
    const replayed = plan.replay.map(({ actorId }: Body) => actorId);
    expect(new Set(replayed).size).toBe(most);
    for (const id of [...replayed, ...plan.sampleIds.match]) expect(ids).toContain(id);
    expect(plan.replay.every(({ ran }: Body) => ran === true)).toBe(true);
    for (const sample of [0, most + 1, 1.5, "5", null]) {
      expectProblem(await family.preview({ ...third, replay: { sample } }), 400, "invalid_request");
    }
  });
});
