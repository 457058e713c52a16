import { refuse } from "../../src/base/errors.ts";
import type { Refused } from "../../src/base/errors.ts";
import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import type { Visit } from "../../src/actor/rpc.ts";
import type { RuleQuery, Selected } from "../../src/directory/rpc.ts";
import type { Env } from "../../src/env.ts";
import type { Rule } from "../../src/migration/rule.ts";
import type { SweepOrder } from "../../src/registry/rpc.ts";
import { AlarmClock } from "../../src/storage/alarm-clock.ts";
import { Db } from "../../src/storage/db.ts";
import { poke } from "../../src/sweep/poke.ts";
import { progress } from "../../src/sweep/read.ts";
import type { SweepProgress } from "../../src/sweep/rpc.ts";
import { run } from "../../src/sweep/run.ts";
import { Sweep } from "../../src/sweep/sweep.ts";
import type { SweepObject } from "../../src/sweep/sweep-object.ts";
import { fresh } from "./api.ts";

/** Where the platform keeps a sweep's alarm, for lives that the platform itself must not wake. */
export interface HeldAlarm {
  at: number | null;
}

export interface MadeActor extends Selected {
  shard: number;
  stage: "match" | "pending";
  /** It has answered a sweep, so that its entry says what was made of it. */
  visited: boolean;
  moved: boolean;
}

/** What surrounds a sweep, by its remote surfaces only: a registry with one rule, shards, actors that answer as told. */
export class Around {
  readonly tenant = fresh("t");
  readonly ruleId = "r_0000000000000000";
  readonly swept: number[] = [];
  /** Ids in the order in which they were asked, and the epochs they were asked with. */
  readonly asked: { id: string; epoch: number }[] = [];
  readonly actors: MadeActor[];
  looks = 0;
  pages = 0;
  /** Null: the registry knows of none. */
  rule: Pick<Rule, "state" | "inForceAt"> | null = { state: "active", inForceAt: 0 };
  epoch = 1;
  /** How an actor answers; as it does nothing but be moved when absent. */
  answer: (actor: MadeActor) => Promise<Visit | Refused> = (actor) => this.move(actor);
  /** Before each call that leaves the sweep. */
  before: (method: string) => Promise<void> | void = () => {};
  readonly #shards: number;

  constructor(size: number, shards = 3) {
    this.#shards = shards;
    this.actors = Array.from({ length: size }, (_, n) => ({
      id: `a${String(n).padStart(6, "0")}`,
      uid: "0".repeat(32),
      shard: n % shards,
      stage: n % 5 === 4 ? "pending" : "match",
      visited: false,
      moved: false,
    }));
  }

  change(state: Rule["state"], inForceAt = 0): void {
    this.rule = { state, inForceAt };
    this.epoch += 1;
  }

  async move(actor: MadeActor): Promise<Visit> {
    actor.moved = true;
    return { outcome: "migrated" };
  }

  get env(): Env {
    return {
      REGISTRY: { getByName: () => this.#registry() },
      DIRECTORY: { getByName: (name: string) => this.#shard(Number(name.split("/")[1])) },
      ACTORS: { getByName: () => this.#actor() },
    } as unknown as Env;
  }

  #registry() {
    return {
      rule: async (): Promise<SweepOrder | null> => {
        await this.before("rule");
        this.looks += 1;
        if (this.rule === null) return null;
        const query = { ruleId: this.ruleId } as RuleQuery;
        return { rule: { ...this.rule } as Rule, query, epoch: this.epoch };
      },
      swept: async ({ epoch }: { epoch: number }) => {
        await this.before("swept");
        this.swept.push(epoch);
      },
      shards: async () => {
        await this.before("shards");
        return this.#shards;
      },
    };
  }

  #shard(shard: number) {
    return {
      candidates: async (query: {
        stage: MadeActor["stage"];
        after: string | null;
        limit: number;
      }) => {
        await this.before("candidates");
        this.pages += 1;
        const { stage, after, limit } = query;
        const behind = this.actors.filter(
          (one) => one.shard === shard && (after === null || one.id > after),
        );
        const found = behind.filter(
          (one) => !one.moved && (one.stage === stage || (stage === "pending" && !one.visited)),
        );
        const items = found.slice(0, limit).map(({ id, uid }) => ({ id, uid }));
        const next = found.length > limit ? (items.at(-1)?.id ?? null) : null;
        return { ok: true, value: { items, looked: behind.length, next } };
      },
    };
  }

  #actor() {
    return {
      migrate: async ({ id, epoch }: { id: string; epoch: number }): Promise<Visit | Refused> => {
        await this.before("migrate");
        this.asked.push({ id, epoch });
        const actor = this.actors.find((one) => one.id === id);
        if (!actor) return refuse("actor_not_found", `No actor '${id}'.`);
        const answer = await this.answer(actor);
        actor.visited = true;
        return answer;
      },
    };
  }
}

export interface Life {
  sweep: Sweep;
  db: Db;
  poke: (again?: boolean) => Promise<null>;
  ring: () => Promise<void>;
  progress: () => SweepProgress;
}

/** A sweep's code over the storage of a real object, in made-up surroundings. */
export function lifeOf(state: DurableObjectState, held: HeldAlarm, around: Around): Life {
  const db = new Db(state.storage);
  const storage = {
    getAlarm: async () => held.at,
    setAlarm: async (at: number) => {
      held.at = at;
    },
  };
  const alarm = new AlarmClock(storage, db);
  const sweep = new Sweep(db, around.env, alarm);
  const { tenant, ruleId } = around;
  return {
    sweep,
    db,
    poke: (again = false) => poke(sweep, { tenant, ruleId, again }),
    ring: async () => {
      held.at = null;
      alarm.wentOff();
      await run(sweep);
    },
    progress: () => progress(sweep),
  };
}

/** Works in the storage of a sweep that nobody else knows. */
export async function inSweep<T>(work: (state: DurableObjectState) => Promise<T>): Promise<T> {
  const name = `${fresh("t")}/r_0000000000000000`;
  const namespace = env.SWEEPS as unknown as DurableObjectNamespace<SweepObject>;
  return await runInDurableObject(namespace.getByName(name), (_, state) => work(state));
}
