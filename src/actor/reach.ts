import { PerdureError } from "../base/errors.ts";
import type { Env } from "../env.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import { getMachine } from "../registry/definition-cache.ts";
import { definitionSource } from "../registry/definition-source.ts";
import { knownRules, rulesOf } from "../registry/rule-cache.ts";
import type { ReadyRule, Rules } from "../registry/rule-cache.ts";

/** Where an actor is, and where it may be brought, and the epoch that it has gone by. */
export interface Place {
  tenant: string;
  epoch: number;
  definitionIds: readonly string[];
}

/** Attempts to have everything at hand at one moment, while leases end and actors move. */
const ATTEMPTS = 5;

/**
 * What migration rules may do to an actor, at hand without a wait: the rules as of one epoch, and the machine of every
 * definition that they may lead to from where it is.
 */
export class Reach {
  readonly #env: Env;
  #rules: Rules | null = null;
  #machines = new Map<string, CompiledMachine>();
  /** Whose rules lead to nothing but these machines and definitions. */
  #definitions = new Set<string>();
  #asking: { epoch: number; rules: Promise<Rules> } | null = null;

  constructor(env: Env) {
    this.#env = env;
  }

  /** As of which the next transaction goes by the rules. */
  get epoch(): number {
    return this.#rules?.epoch ?? 0;
  }

  #holds({ tenant, epoch, definitionIds }: Place): boolean {
    const rules = knownRules(tenant, epoch, Date.now());
    return rules !== null && rules === this.#rules && covers(this.#definitions, definitionIds);
  }

  /**
   * Asks until all of it is at hand; `place` is looked at anew after each wait, null where there is nothing to prepare any
   * more. Throws `unavailable` where rules or machines cannot be had.
   */
  async prepare(place: () => Place | null): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const present = place();
      if (present === null || this.#holds(present)) return;
      const { tenant, epoch, definitionIds } = present;
      const rules = await this.#ask(tenant, epoch);
      const machines = new Map<string, CompiledMachine>();
      const definitions = new Set(definitionIds);
      const registry = definitionSource(this.#env.REGISTRY, tenant);
      // A set hands out what is added while it is walked.
      for (const from of definitions) {
        for (const { rule } of rules.from(from)) {
          if (rule.state !== "active") continue;
          machines.set(rule.toHash, await getMachine(registry, rule.toHash, rule.to));
          definitions.add(rule.to);
        }
      }
      this.#keep(rules, machines, definitions, place());
    }
    const present = place();
    if (present !== null && !this.#holds(present)) throw unprepared();
  }

  /**
   * Once for all requests that wait in this object, which go on in the order in which they came: they wait for one promise.
   * Each by itself would wait on timers, which go off one after the other: with many writers some would still be waiting
   * when the next lease ends, and the next.
   */
  #ask(tenant: string, epoch: number): Promise<Rules> {
    const present = this.#asking;
    if (present !== null && present.epoch >= epoch) return present.rules;
    const rules = rulesOf(this.#env, tenant, epoch).finally(() => {
      if (this.#asking?.rules === rules) this.#asking = null;
    });
    this.#asking = { epoch, rules };
    return rules;
  }

  /** The rules about actors on a definition. */
  from(definitionId: string): readonly ReadyRule[] {
    if (this.#rules === null || !this.#definitions.has(definitionId)) throw unprepared();
    return this.#rules.from(definitionId);
  }

  /** The machine that a rule leads to. */
  target({ rule: { toHash } }: ReadyRule): CompiledMachine {
    const machine = this.#machines.get(toHash);
    if (machine === undefined) throw unprepared();
    return machine;
  }

  /** Takes over what was fetched, unless it is older than what there is, or the actor has left it meanwhile. */
  #keep(
    rules: Rules,
    machines: Map<string, CompiledMachine>,
    definitions: Set<string>,
    place: Place | null,
  ): void {
    if (rules === this.#rules) {
      for (const [hash, machine] of machines) this.#machines.set(hash, machine);
      for (const id of definitions) this.#definitions.add(id);
      return;
    }
    const left = place !== null && !covers(definitions, place.definitionIds);
    if (rules.epoch < this.epoch || left) return;
    this.#rules = rules;
    this.#machines = machines;
    this.#definitions = definitions;
  }
}

function covers(definitions: ReadonlySet<string>, ids: readonly string[]): boolean {
  return ids.every((id) => definitions.has(id));
}

function unprepared(): PerdureError {
  return new PerdureError(
    "unavailable",
    "The migration rules changed while the request waited for them. Send the same request again, with the same Idempotency-Key if it has one.",
  );
}
