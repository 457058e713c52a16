import type { JsonObject } from "../../src/base/json.ts";
import type { Laws } from "../../src/actor/laws.ts";
import { Work } from "../../src/actor/work.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import type { CompiledMachine } from "../../src/machine/compile.ts";
import { enteredBefore } from "../../src/machine/entered.ts";
import { datedStates, timerFate } from "../../src/machine/land-timers.ts";
import { landingOf } from "../../src/machine/landing.ts";
import type { Actor } from "../../src/lifecycle/actor.ts";
import { beginActor } from "../../src/lifecycle/birth.ts";
import { NO_ORIGIN } from "../../src/lifecycle/input.ts";
import type { Input as ActorInput } from "../../src/lifecycle/input.ts";
import type { LogRecord } from "../../src/lifecycle/types.ts";
import { compile } from "../../src/migration/compile.ts";
import { confirm } from "../../src/migration/confirm.ts";
import { parsePattern } from "../../src/migration/pattern.ts";
import { rampTo } from "../../src/migration/ramp.ts";
import type { Move, Rule } from "../../src/migration/rule.ts";
import { endOf } from "./migration-reference.ts";
import type { Input, Lived } from "./migration-reference.ts";
import { LEASE_MS, definitionOf } from "./migration-world.ts";
import type { Change, Happening, World } from "./migration-world.ts";

/** What came of an actor that was moved by the actor room's own transactions. */
export interface Driven extends Lived {
  actor: Actor;
  log: LogRecord[];
  machines: Map<string, CompiledMachine>;
  /** Of each happening, whether it made inputs. */
  made: boolean[];
}

/** The same world as for the reference, through `Work`; a crash is a transaction whose outcome is thrown away. */
export function drivenLife(
  world: World,
  definitions: { [version: string]: JsonObject } = flat(world),
): Driven {
  const driver = new Driver(world, definitions);
  for (const happening of [...world.happenings, endOf(world)]) {
    driver.transaction(happening);
  }
  return driver.driven;
}

function flat({ versions }: World): { [version: string]: JsonObject } {
  return Object.fromEntries(versions.map((version) => [version.id, definitionOf(version)]));
}

class Driver {
  readonly #world: World;
  readonly #machines: Map<string, CompiledMachine>;
  readonly #log: LogRecord[] = [];
  readonly #inputs: Input[] = [];
  readonly #made: boolean[] = [];
  #actor: Actor;

  constructor(world: World, definitions: { [version: string]: JsonObject }) {
    this.#world = world;
    this.#machines = new Map(
      Object.entries(definitions).map(([id, definition]) => [id, compileDefinition(definition)]),
    );
    const birth = { uid: world.uid, definitionId: "v1", definitionHash: "v1" };
    const machine = this.#machines.get("v1") as CompiledMachine;
    const born = beginActor({ tenant: "t", id: "a" }, machine, birth, 0, NO_ORIGIN);
    if (!born.ok) throw new Error(born.fault.message);
    this.#actor = born.actor;
    this.#log.push(born.record);
  }

  get driven(): Driven {
    const { definitionId, machine } = this.#actor.envelope;
    return {
      inputs: this.#inputs,
      version: definitionId,
      state: machine.value as string,
      activity: this.#activity,
      actor: this.#actor,
      log: this.#log,
      machines: this.#machines,
      made: this.#made,
    };
  }

  /** What runs, by the log: how many had begun before it. */
  get #activity(): Lived["activity"] {
    const [running] = this.#actor.envelope.activities;
    if (running === undefined) return null;
    const begun = this.#log.flatMap(({ effects }) =>
      effects.flatMap(({ kind, ref }) => (kind === "start" ? [ref] : [])),
    );
    return { id: running.id, nth: begun.indexOf(running.ref) };
  }

  transaction(happening: Happening): void {
    const { at, epoch, kind } = happening;
    const work = new Work(this.#actor, this.#laws(epoch));
    work.fireDue(work.now(at));
    const input = inputOf(happening, work.actor);
    if (input !== null) {
      const outcome = work.try(input, work.now(at), NO_ORIGIN);
      if (!outcome.ok) throw new Error(outcome.fault.message);
      work.take(outcome);
      work.fireDue(work.now(at));
    }
    const lost = kind === "crash" || !work.changed;
    this.#made.push(!lost && work.records.some((record) => record.type !== null));
    if (lost) return;
    let version = this.#actor.envelope.definitionId;
    for (const record of work.records) {
      const { type: of, timer, handled } = record;
      if (record.kind === "migrated" && record.error === null) {
        version = (record.payload as { to: string }).to;
      }
      if (of === null) continue;
      const dueAt = timer?.dueAt ?? null;
      this.#inputs.push({
        type: of,
        at: record.at,
        epoch,
        dueAt,
        handled: handled === true,
        version,
      });
    }
    this.#log.push(...work.records);
    this.#actor = work.actor;
  }

  /** As the room's own `Laws`, but for the database that it reads the log from. */
  #laws(epoch: number): Laws {
    const rules = rulesAt(this.#world.changes.slice(0, epoch)).map((rule) => {
      const parsed = parsePattern(rule);
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
      return { rule, compiled: compile(parsed.pattern) };
    });
    const machineOf = (id: string) => this.#machines.get(id) as CompiledMachine;
    const laws: Pick<
      Laws,
      "epoch" | "from" | "target" | "decide" | "restart" | "moveOf" | "dated"
    > = {
      epoch,
      from: (definitionId) => rules.filter(({ rule }) => rule.from === definitionId),
      target: ({ rule }) => machineOf(rule.to),
      decide: ({ rule, compiled }, { entered }, records) => {
        const after = rule.since === "entry" ? entered.seq : 0;
        const steps = [...this.#log, ...records].filter(
          ({ seq, type, handled }) => seq > after && handled === true && type !== null,
        );
        const { decision, at } = confirm(
          compiled,
          steps.map(({ type }) => type as string),
        );
        return { decision, atSeq: steps[at - 1]?.seq ?? Math.max(after, 1) };
      },
      restart: () => {},
      moveOf: ({ rule }, decidedAtSeq) => {
        const { id: ruleId, from, to, toHash, stateMapping, contextMapping } = rule;
        return {
          ruleId,
          from,
          to,
          toHash,
          stateMapping,
          contextMapping,
          decidedAtSeq,
          entered: {},
        };
      },
      dated: (move, _, { envelope, machine }, records) => {
        const { to, stateMapping } = move;
        const { value } = envelope.machine;
        const landed = landingOf(machine, machineOf(to), value, stateMapping);
        const stays = [...this.#log, ...records]
          .filter(({ seq }) => seq >= envelope.entered.seq)
          .toReversed()
          .map((record) => {
            const moved = record.kind === "migrated" && record.seq === envelope.entered.seq;
            return moved
              ? { ...record, entered: (record.payload as unknown as Move).entered }
              : record;
          });
        const target = machineOf(to);
        const entered = landed.ok
          ? enteredBefore(
              machine,
              landed,
              datedStates(target, landed.value, timerFate(machine, target, value, landed)),
              stays,
              envelope.machine.history,
            )
          : {};
        return { ...move, entered };
      },
    };
    return laws as Laws;
  }
}

/** An event, or the result of what runs. */
function inputOf(happening: Happening, { envelope }: Actor): ActorInput | null {
  const type = "type" in happening ? happening.type : null;
  if (type !== null) return { kind: "event", type, payload: null };
  const [running] = envelope.activities;
  if (happening.kind !== "result" || running === undefined) return null;
  return { kind: "activity_done", ref: running.ref, output: null, attempts: 1 };
}

/** The rules that are not retired after these changes, with the ramps that the registry would give them. */
function rulesAt(changes: readonly Change[]): Rule[] {
  const rules = new Map<string, Rule>();
  for (const [index, change] of changes.entries()) {
    const step = { epoch: index + 1, inForceAt: change.at + LEASE_MS };
    if (change.kind === "deploy") {
      const { rule, percent, replaces } = change;
      if (replaces !== null) rules.delete(replaces);
      rules.set(rule.id, {
        ...rule,
        toHash: rule.to,
        contextMapping: {},
        onUnmappable: "stay",
        position: index,
        percent,
        state: "active",
        inForceAt: step.inForceAt,
        ramp: [{ ...step, percent }],
      });
      continue;
    }
    const rule = rules.get(change.ruleId);
    if (rule === undefined) continue;
    if (change.kind === "retire") rules.delete(rule.id);
    else if (change.kind === "pause") rules.set(rule.id, { ...rule, state: "paused", ramp: [] });
    else if (change.kind === "resume") {
      if (rule.state === "active") continue;
      const ramp = [{ ...step, percent: rule.percent }];
      rules.set(rule.id, { ...rule, state: "active", ramp });
    } else if (change.kind === "percent") {
      const { percent } = change;
      const ramp = rule.state === "paused" ? [] : rampTo(rule.ramp, { ...step, percent });
      rules.set(rule.id, { ...rule, percent, ramp });
    }
  }
  return [...rules.values()];
}
