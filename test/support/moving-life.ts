import type { Reply } from "../../src/base/reply.ts";
import { env } from "cloudflare:workers";
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { vi } from "vitest";
import type { ActorRpc, Keyed } from "../../src/actor/rpc.ts";
import { Resident } from "../../src/actor/resident.ts";
import { actorObjectName } from "../../src/base/ids.ts";
import { PerdureError } from "../../src/base/errors.ts";
import { given } from "../../src/base/refused.ts";
import type { LogRecord } from "../../src/lifecycle/types.ts";
import type { RuleSet } from "../../src/migration/rule.ts";
import { RegistryObject } from "../../src/registry/registry-object.ts";
import type { RegistryRpc } from "../../src/registry/rpc.ts";
import { forgetRules } from "../../src/registry/rule-cache.ts";
import { objectOf } from "./actors.ts";
import { fresh } from "./api.ts";
import { END_MS } from "./migration-reference.ts";
import type { Input, Lived } from "./migration-reference.ts";
import { LEASE_MS, definitionOf } from "./migration-world.ts";
import type { Change, Happening, World } from "./migration-world.ts";
import { bodyOf, registryObject } from "./registry.ts";
import { deploy } from "./rules.ts";

/** Around one step of a life; they follow from the world's seed. */
export interface Circumstance {
  /** Whether the actor's object is taken from memory before it. */
  evicted: boolean;
  /** ms; how old the rules are that the actor's isolate is told, at most LEASE_MS. */
  age: number;
  /** Whether an event is still under way when the next change of a rule is made. */
  inFlight: boolean;
}

/** What came of a world without activities that was lived by real objects: rules have other ids, what changed nothing is no change. */
export interface RealLife extends Lived {
  world: World;
  tenant: string;
  id: string;
}

let base = Date.UTC(2090, 0, 1);

/** Lives a world; `sweeping`: visits are those of the rules' own sweeps, which ask whom they find. Date is faked. */
export async function realLife(
  world: World,
  circumstances: readonly Circumstance[],
  sweeping: boolean,
): Promise<RealLife> {
  base += 10 * END_MS;
  const driver = new Driver(world, sweeping);
  const rules = vi
    .spyOn(RegistryObject.prototype, "rules")
    .mockImplementation(async () => driver.told());
  try {
    return await driver.live(circumstances);
  } finally {
    rules.mockRestore();
  }
}

/** By time; of one time changes come first. */
function courseOf({ changes, happenings }: World): (Change | Happening)[] {
  return [...changes, ...happenings].sort((a, b) => a.at - b.at);
}

const isHappening = (step: Change | Happening | undefined): step is Happening =>
  step !== undefined && ["event", "visit", "alarm", "crash"].includes(step.kind);

class Driver {
  readonly #tenant = fresh("t");
  readonly #id = fresh("a");
  readonly #registry: RegistryRpc;
  readonly #world: World;
  readonly #sweeping: boolean;
  /** Ids of rules by those that the world has. */
  readonly #ids = new Map<string, string>();
  readonly #changes: Change[] = [];
  readonly #happenings: Happening[] = [];
  /** The rules since each change; which of them an isolate is told is decided by how old they may be. */
  readonly #sets: { at: number; set: RuleSet }[] = [{ at: 0, set: { epoch: 0, rules: [] } }];
  #age = 0;
  #told = 0;
  #uid = "";

  constructor(world: World, sweeping: boolean) {
    this.#world = world;
    this.#sweeping = sweeping;
    this.#registry = env.REGISTRY.getByName(this.#tenant);
  }

  /** What an isolate is told that asks now: never older than what it was told before. */
  told(): RuleSet {
    const known = this.#sets.filter(
      ({ at, set }) => at <= Date.now() - base - this.#age || set.epoch <= this.#told,
    );
    const { set } = known.at(-1) as { set: RuleSet };
    this.#told = set.epoch;
    return set;
  }

  async live(circumstances: readonly Circumstance[]): Promise<RealLife> {
    this.#at(0);
    for (const version of this.#world.versions) {
      bodyOf(await deploy(this.#registry, version.id, definitionOf(version)));
    }
    const born = await this.#actor.spawn({ ...this.#address, keyed: keyed(), definitionId: "v1" });
    this.#uid = (replied(born) as { uid: string }).uid;
    const course = courseOf(this.#world);
    for (let n = 0; n < course.length; n += 1) {
      const step = course[n] as Change | Happening;
      const around = circumstances[n % circumstances.length] as Circumstance;
      this.#at(step.at);
      this.#age = this.#sweeping ? 0 : around.age;
      if (around.evicted) await this.#evict();
      if (!isHappening(step)) {
        await this.#change(step);
        continue;
      }
      const next = course[n + 1];
      if (step.kind === "event" && around.inFlight && next !== undefined && !isHappening(next)) {
        const happening = this.#happen(step);
        this.#at(next.at);
        await Promise.all([happening, this.#change(next)]);
        n += 1;
      } else await this.#happen(step);
    }
    this.#at(END_MS);
    this.#age = 0;
    await this.#visit();
    return await this.#lived();
  }

  get #address() {
    return { tenant: this.#tenant, id: this.#id };
  }

  get #actor(): ActorRpc {
    return env.ACTORS.getByName(actorObjectName(this.#tenant, this.#id));
  }

  #at(ms: number): void {
    vi.setSystemTime(base + ms);
  }

  /** As a crash does it: the test runner waits for ever to evict an object in which a commit has failed. */
  async #evict(): Promise<void> {
    const reset = (_: unknown, state: DurableObjectState) => state.abort("injected: crash");
    await runInDurableObject(objectOf(this.#id, this.#tenant), reset).catch(() => {});
  }

  async #change(change: Change): Promise<void> {
    const ruleId = change.kind === "deploy" ? null : this.#ids.get(change.ruleId);
    if (ruleId === undefined) return;
    let made = change;
    if (change.kind === "deploy") {
      const deployed = await this.#deploy(change);
      if (deployed === null) return;
      made = deployed;
    } else {
      const { kind } = change;
      const what = kind === "percent" ? { percent: change.percent } : kind;
      const key = kind === "percent" ? null : keyOf();
      const command = { id: ruleId as string, change: what, key, lease: LEASE_MS };
      await this.#registry.changeRule(command);
      made = { ...change, ruleId: ruleId as string };
    }
    const set = await this.#rules();
    if (set.epoch === this.#changes.length) return;
    const at = Date.now() - base;
    this.#changes.push({ ...made, at });
    this.#sets.push({ at, set });
  }

  async #deploy(change: Change & { kind: "deploy" }): Promise<Change | null> {
    const { percent } = change;
    const { id, from, to, ...written } = change.rule;
    const rule = { ...written, contextMapping: {}, onUnmappable: "stay", percent } as const;
    const wanted = change.replaces === null ? null : (this.#ids.get(change.replaces) ?? null);
    for (const replaces of wanted === null ? [null] : [wanted, null]) {
      const command = { from, to, rule, replaces, lease: LEASE_MS };
      let reply = await this.#registry.createRule({ ...command, ...keyOf(), confirmToken: null });
      const confirmToken = tokenOf(reply);
      if (confirmToken !== null) {
        reply = await this.#registry.createRule({ ...command, ...keyOf(), confirmToken });
      }
      if (!reply.ok) continue;
      const made = (reply.body as { id: string }).id;
      this.#ids.set(id, made);
      return { ...change, rule: { ...change.rule, id: made }, replaces };
    }
    return null;
  }

  /** As the registry has them, whatever isolates are told meanwhile. */
  async #rules(): Promise<RuleSet> {
    const registry = registryObject(this.#tenant);
    return given(await runInDurableObject(registry, (object) => originalRules.call(object)));
  }

  async #happen(happening: Happening): Promise<void> {
    // As if the lease had just ended: what the isolate goes by is decided by its age.
    forgetRules(this.#tenant);
    const before = await this.#seq();
    switch (happening.kind) {
      case "event":
        replied(await this.#send(happening.type));
        break;
      case "visit":
        if (this.#sweeping) await this.#sweep();
        else await this.#visit();
        break;
      case "alarm":
        if (!(await this.#ring())) return;
        break;
      case "crash":
        await this.#crash(happening.type);
        return;
    }
    const records = await this.#log(before);
    const last = records.at(-1);
    this.#happenings.push({
      ...happening,
      at: (last?.at ?? Date.now()) - base,
      epoch: last?.epoch ?? this.#told,
    });
  }

  async #send(type: string): Promise<Reply> {
    const event = { type, payload: null, strict: false, representation: false };
    return await this.#actor.send({ ...this.#address, keyed: keyed(), ...event });
  }

  async #visit(): Promise<void> {
    const [ruleId = "r_none"] = this.#ids.values();
    forgetRules(this.#tenant);
    given(await this.#actor.migrate({ ...this.#address, ruleId, epoch: 0 }));
  }

  async #sweep(): Promise<void> {
    for (const ruleId of this.#ids.values()) {
      await runDurableObjectAlarm(env.SWEEPS.getByName(`${this.#tenant}/${ruleId}`) as never);
    }
  }

  /** False where nothing was due, so that nothing was done. */
  async #ring(): Promise<boolean> {
    const body = replied(await this.#actor.read({ ...this.#address, at: null }));
    const { timers } = body as { timers: { dueAt: string }[] };
    const due = timers.some(({ dueAt }) => Date.parse(dueAt) <= Date.now());
    const rang = await runDurableObjectAlarm(objectOf(this.#id, this.#tenant));
    if (due && !rang) throw new Error("A timer is due and no alarm is set.");
    return due;
  }

  /** A transaction that is lost as it is committed. */
  async #crash(type: string | null): Promise<void> {
    const commit = vi.spyOn(Resident.prototype, "commit").mockImplementation(() => {
      throw new PerdureError("unavailable", "Lost.");
    });
    try {
      if (type === null) {
        const ruleId = [...this.#ids.values()][0] ?? "r_none";
        await this.#actor.migrate({ ...this.#address, ruleId, epoch: 0 });
      } else await this.#send(type);
    } finally {
      commit.mockRestore();
    }
  }

  async #seq(): Promise<number> {
    const reply = await this.#actor.read({ ...this.#address, at: null });
    return (replied(reply) as { seq: number }).seq;
  }

  async #log(after: number): Promise<LogRecord[]> {
    const query = { ...this.#address, uid: this.#uid, after, through: 1_000_000 };
    const page = replied(await this.#actor.exportLog(query)) as unknown as { items: LogRecord[] };
    return page.items;
  }

  async #lived(): Promise<RealLife> {
    const inputs: Input[] = [];
    let version = "v1";
    for (const record of await this.#log(0)) {
      const { kind, type, payload, error, at, epoch, timer, handled } = record;
      if (kind === "migrated" && error === null) version = (payload as { to: string }).to;
      if (type === null) continue;
      const dueAt = timer === null ? null : timer.dueAt - base;
      const input = { type, at: at - base, epoch, dueAt, handled: handled === true, version };
      inputs.push(input);
    }
    const body = replied(await this.#actor.read({ ...this.#address, at: null }));
    const { definitionId, stateValue } = body as { definitionId: string; stateValue: string };
    const { versions } = this.#world;
    const world: World = {
      uid: this.#uid,
      versions,
      changes: this.#changes,
      happenings: this.#happenings,
    };
    const lived = { inputs, version: definitionId, state: stateValue, activity: null };
    return { ...lived, world, ...this.#address };
  }
}

const originalRules = RegistryObject.prototype.rules;

function replied(reply: Reply): unknown {
  if (!reply.ok) throw new Error(JSON.stringify(reply.failure));
  return reply.body;
}

function keyOf(): { key: string; request: string } {
  const key = fresh("key");
  return { key, request: key };
}

function keyed(): Keyed {
  return { ...keyOf(), ifMatch: null, by: null, principal: "test" };
}

function tokenOf(reply: Reply): string | null {
  if (reply.ok || reply.failure.code !== "migration_needs_confirmation") return null;
  const { plan } = reply.failure.extra as { plan: { confirmToken: string } };
  return plan.confirmToken;
}
