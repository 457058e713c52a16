import type { Refused } from "../../src/base/errors.ts";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import type { Visit } from "../../src/actor/rpc.ts";
import { DEFAULT_TENANT, actorObjectName } from "../../src/base/ids.ts";
import { given } from "../../src/base/refused.ts";
import type { Rule, RuleState } from "../../src/migration/rule.ts";
import { RegistryObject } from "../../src/registry/registry-object.ts";
import { forgetRules } from "../../src/registry/rule-cache.ts";
import { call, fresh } from "./api.ts";

let epoch = 0;
let rules: Rule[] = [];

/** From now on registries answer the rules made here: no sweep knows of them, so none comes between two events. */
export function useRules(): void {
  vi.spyOn(RegistryObject.prototype, "rules").mockImplementation(async () => ({
    epoch,
    rules: rules.filter(({ state }) => state !== "retired"),
  }));
  vi.spyOn(RegistryObject.prototype, "rulesFrom").mockImplementation((async (ids: string[]) =>
    rules.filter(({ from }) => ids.includes(from))) as never);
}

/** Makes a rule; in force after `lease` ms. */
export async function ruled(
  from: string,
  to: string,
  rule: Partial<Rule> = {},
  lease = 0,
): Promise<string> {
  const registry = env.REGISTRY.getByName(DEFAULT_TENANT);
  const resolved = given(await registry.resolve(to));
  epoch += 1;
  const id = fresh("r");
  const percent = rule.percent ?? 100;
  const inForceAt = Date.now() + lease;
  rules.push({
    id,
    from,
    to,
    toHash: resolved!.hash,
    historyPath: [],
    match: rule.historyPath ? "prefix" : "all",
    since: "birth",
    onUnmappable: "stay",
    stateMapping: {},
    contextMapping: {},
    position: rules.length + 1,
    percent,
    state: "active",
    inForceAt,
    ramp: [{ epoch, percent, inForceAt }],
    ...rule,
  });
  forgetRules(DEFAULT_TENANT);
  return id;
}

export async function changed(
  id: string,
  change: { state?: RuleState; percent?: number },
): Promise<void> {
  epoch += 1;
  rules = rules.map((rule) => {
    if (rule.id !== id) return rule;
    const next = { ...rule, ...change, inForceAt: Date.now() };
    const step = { epoch, percent: next.percent, inForceAt: Date.now() };
    return { ...next, ramp: next.state === "active" ? [step] : [] };
  });
  forgetRules(DEFAULT_TENANT);
}

/** Deploys versions of one family, in order. */
export async function versions(...machines: object[]): Promise<string[]> {
  const family = fresh("m");
  const ids: string[] = [];
  for (const [index, machine] of machines.entries()) {
    const id = `${family}-v${index + 1}`;
    const body = {
      id,
      definition: { ...machine, id: family },
      ...(index === 0 ? {} : { parentId: ids[index - 1] }),
    };
    const answer = await call("PUT", "/v1/definitions", { body });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    ids.push(id);
  }
  return ids;
}

/** A sweep's visit. */
export async function visited(actorId: string, ruleId: string, asOf = 0): Promise<Visit | Refused> {
  const actor = env.ACTORS.getByName(actorObjectName(DEFAULT_TENANT, actorId));
  return await actor.migrate({ tenant: DEFAULT_TENANT, id: actorId, ruleId, epoch: asOf });
}
