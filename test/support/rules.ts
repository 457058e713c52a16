import { env } from "cloudflare:workers";
import type { JsonObject } from "../../src/base/json.ts";
import type { RuleQuery, SurveyClass } from "../../src/directory/rpc.ts";
import type { CreateRuleCommand, RegistryRpc, RuleInput } from "../../src/registry/rpc.ts";
import type { StateValue } from "../../src/machine/types.ts";
import { fresh } from "./api.ts";
import { bodyOf } from "./registry.ts";

export const LEASE = 1_000;

/** A loan's application; `more` states beside or instead of those of the first version. */
export function loan(family: string, more: JsonObject = {}): JsonObject {
  return {
    id: family,
    initial: "info",
    states: {
      info: { on: { SUBMIT_INFO: "fee" } },
      fee: { on: { PAY_FEE: "docs", WAIVE_FEE: "docs" } },
      docs: { after: { 3600000: "reminded" }, on: { UPLOAD: "approval" } },
      reminded: { on: { UPLOAD: "approval" } },
      approval: { on: { APPROVE: "approved", REJECT: "rejected" } },
      approved: { type: "final" },
      rejected: { type: "final" },
      ...more,
    },
  };
}

/** The second version has an income check and reminds nobody. */
export function loan2(family: string): JsonObject {
  return {
    ...loan(family),
    states: {
      info: { on: { SUBMIT_INFO: "fee" } },
      fee: { on: { PAY_FEE: "docs", WAIVE_FEE: "docs" } },
      docs: { after: { 3600000: "income", 7200000: "income" }, on: { UPLOAD: "income" } },
      income: { on: { CHECK: "approval" } },
      approval: { on: { APPROVE: "approved", REJECT: "rejected" } },
      approved: { type: "final" },
      rejected: { type: "final" },
    },
  };
}

export const MAPPED = { reminded: "docs" };

export function ruleOf(over: Partial<RuleInput> = {}): RuleInput {
  return {
    historyPath: ["SUBMIT_INFO", "PAY_FEE"],
    match: "prefix",
    since: "birth",
    stateMapping: {},
    contextMapping: {},
    onUnmappable: "stay",
    percent: 100,
    ...over,
  };
}

/** A tenant's registry with two versions of a loan, `v1` and its child `v2`. */
export async function twoVersions() {
  const tenant = fresh("tenant");
  const registry = env.REGISTRY.getByName(tenant);
  await deploy(registry, "v1", loan("loan"));
  await deploy(registry, "v2", loan2("loan"), { parentId: "v1" });
  return { tenant, registry };
}

export async function deploy(
  registry: RegistryRpc,
  id: string,
  definition: JsonObject,
  more: {
    parentId?: string | null;
    rule?: RuleInput;
    confirmToken?: string;
    replaceable?: boolean;
  } = {},
) {
  return await registry.deploy({
    id,
    definition,
    parentId: null,
    replaceable: false,
    lease: LEASE,
    ...more,
  });
}

export async function create(registry: RegistryRpc, over: Partial<CreateRuleCommand> = {}) {
  const key = fresh("key");
  return await registry.createRule({
    key,
    request: key,
    lease: LEASE,
    from: "v1",
    to: "v2",
    rule: ruleOf(),
    replaces: null,
    confirmToken: null,
    ...over,
  });
}

/** Id of a rule that has to be made. */
export async function created(registry: RegistryRpc, over: Partial<CreateRuleCommand> = {}) {
  return bodyOf(await create(registry, over)).id as string;
}

type Binding = "DIRECTORY" | "SWEEPS";

/** Other objects behind a namespace; answers what puts the real ones back. To the test tools it stays what it is. */
function replaceObjects(name: Binding, getByName: (name: string) => unknown): () => void {
  const real = env[name];
  const put = (value: unknown) => Object.defineProperty(env, name, { configurable: true, value });
  const get = (target: object, member: string) => {
    if (member === "getByName") return getByName;
    const value: unknown = Reflect.get(target, member);
    return typeof value === "function" && member !== "constructor" ? value.bind(target) : value;
  };
  put(new Proxy(real, { get: (target, member) => get(target, String(member)) }));
  return () => put(real);
}

/** What shards would say of a rule, whatever it is: the planning is looked at alone. */
export class Shards {
  /** By number of the shard. */
  readonly classes: SurveyClass[][] = [];
  readonly asked: (RuleQuery & { samples: number; name: string })[] = [];
  readonly restore: () => void;

  constructor() {
    this.restore = replaceObjects("DIRECTORY", (name) => ({
      count: () => ({ ok: true, value: [] }),
      survey: async (query: RuleQuery & { samples: number }) => {
        this.asked.push({ ...query, name });
        const classes = this.classes[Number(name.split("/")[1])] ?? [];
        const outcomes = { migrated: 0, unmappable: 0, stranded: 0, rolled_back: 0 };
        return { ok: true, value: { classes, finished: 0, outcomes } };
      },
    }));
  }
}

export function surveyed(stateValue: StateValue, over: Partial<SurveyClass> = {}): SurveyClass {
  const { samples, ...counts } = over;
  return {
    stateValue,
    status: "active",
    match: 0,
    pending: 0,
    diverged: 0,
    near: 0,
    refused: { match: 0, pending: 0 },
    held: 0,
    ...counts,
    samples: { match: [], pending: [], diverged: [], near: [], ...samples },
  };
}

/** Sweeps that write down what they are told. */
export class SweepCalls {
  told: { name: string; ruleId: string; tenant: string; again: boolean }[] = [];
  /** While it is true they cannot be reached. */
  lost = false;
  /** Who is told waits for it. */
  held: Promise<void> | null = null;
  readonly restore: () => void;

  constructor() {
    this.restore = replaceObjects("SWEEPS", (name) => ({
      poke: async (query: { tenant: string; ruleId: string; again: boolean }) => {
        if (this.lost) throw new Error("injected");
        await this.held;
        this.told.push({ name, ...query });
        return { ok: true, value: null };
      },
    }));
  }
}
