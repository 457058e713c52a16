import * as fc from "fast-check";
import type { JsonObject } from "../../src/base/json.ts";
import { parsePattern } from "../../src/migration/pattern.ts";
import { EVENTS, written } from "./histories.ts";
import type { Written } from "./history-reference.ts";

/**
 * Small worlds in which actors can be moved: versions of one flat machine, rules between them, changes of rules over
 * time, and what happens to one actor. Everything is plain data, so that the reference and the real thing read the same.
 */

/** State → event → where it leads; the state itself: an action without a target. */
export interface Version {
  id: string;
  states: {
    [state: string]: {
      on: { [event: string]: string };
      after: { delayMs: number; to: string } | null;
      invoke?: Invoked | null;
    };
  };
}

/** An activity, and where its end leads. */
export interface Invoked {
  id: string;
  src: string;
  to: string;
}

export interface WrittenRule extends Written {
  id: string;
  from: string;
  to: string;
  since: "birth" | "entry";
  stateMapping: { [state: string]: string };
}

export type Change = { at: number } & (
  | { kind: "deploy"; rule: WrittenRule; percent: number; replaces: string | null }
  | { kind: "pause" | "resume" | "retire"; ruleId: string }
  | { kind: "percent"; ruleId: string; percent: number }
);

/**
 * `result`: of the activity that runs, if one does. `visit`: a sweep comes by. `crash`: a transaction that is lost before its commit. `epoch`: that the rules are gone by, the
 * one in force or a younger one, as isolates may hear of a change before it is in force. It never goes back.
 */
export type Happening = { at: number; epoch: number } & (
  | { kind: "event"; type: string }
  | { kind: "visit" | "alarm" | "result" }
  | { kind: "crash"; type: string | null }
);

export interface World {
  uid: string;
  versions: Version[];
  /** By time; the n-th makes epoch n + 1, known to everyone LEASE_MS later. */
  changes: Change[];
  /** By time. */
  happenings: Happening[];
}

/** Long, so that much happens before changes are in force. */
export const LEASE_MS = 2_000;
const STATES = ["idle", "waiting", "checked", "closed"] as const;
const DELAYS = [400, 1_500, 6_000];
const TYPES = EVENTS;

const state = fc.constantFrom(...STATES);

const invoked = fc.option(
  fc.record({
    id: fc.constantFrom("charge", "charge", "charge", "other"),
    src: fc.constantFrom("book", "book", "book", "book", "ship"),
    to: state,
  }),
  { freq: 6, nil: null },
);

function versionOf(id: string, invoking: boolean): fc.Arbitrary<Version> {
  const stateBody = fc.record({
    invoke: invoking ? invoked : fc.constant(null),
    on: fc.dictionary(fc.constantFrom(...TYPES), state, { maxKeys: 5 }),
    after: fc.option(fc.record({ delayMs: fc.constantFrom(...DELAYS), to: state }), {
      freq: 3,
      nil: null,
    }),
  });
  return fc
    .record({
      states: fc.record(Object.fromEntries(STATES.map((name) => [name, stateBody]))),
      // A state that this version does not have; never the initial one.
      without: fc.option(fc.constantFrom("waiting", "checked", "closed"), { freq: 3, nil: null }),
    })
    .map(({ states, without }) => {
      const kept = Object.entries(states).filter(([name]) => name !== without);
      const known = (name: string) => (name === without ? "idle" : name);
      return {
        id,
        states: Object.fromEntries(
          kept.map(([name, { on, after, invoke }]) => [
            name,
            {
              invoke: invoke && { ...invoke, to: known(invoke.to) },
              on: Object.fromEntries(Object.entries(on).map(([type, to]) => [type, known(to)])),
              after: after && { ...after, to: known(after.to) },
            },
          ]),
        ),
      };
    });
}

function versions(invoking: boolean): fc.Arbitrary<Version[]> {
  const all = ["v1", "v2", "v3", "v4"].map((id) => versionOf(id, invoking));
  return fc.tuple(...all) as fc.Arbitrary<Version[]>;
}

/** Paths name timers of states and ends of activities too: `@timer:idle:400`, `@done:charge`. */
const path = written
  .map((rule) => ({
    ...rule,
    historyPath: rule.historyPath.map((name) =>
      name.replace(/@(timer|error):.*/, "@timer:idle:400"),
    ),
  }))
  .filter((rule) => parsePattern(rule).ok);

function ruleBetween(versions: Version[], id: string): fc.Arbitrary<WrittenRule> {
  return fc
    .record({
      rule: path,
      ends: fc
        .tuple(fc.nat(versions.length - 1), fc.nat(versions.length - 1))
        .filter(([a, b]) => a !== b),
      since: fc.constantFrom("birth", "entry"),
      stateMapping: fc.dictionary(state, state, { maxKeys: 3 }),
    })
    .map(({ rule, ends: [a, b], since, stateMapping }) => {
      const from = versions[Math.min(a, b)] as Version;
      const to = versions[Math.max(a, b)] as Version;
      // What deploy would refuse is left out: both ends of a mapping exist.
      const kept = Object.entries(stateMapping).filter(
        ([old, next]) => from.states[old] && to.states[next],
      );
      return {
        ...rule,
        id,
        from: from.id,
        to: to.id,
        since: since as WrittenRule["since"],
        stateMapping: Object.fromEntries(kept),
      };
    });
}

const SPAN_MS = 20_000;
const time = fc.integer({ min: 1, max: SPAN_MS });

/** `stopping`: whether rules may also be paused, retired, narrowed; `invoking`: whether states have activities. */
export function worlds(stopping: boolean, invoking = false): fc.Arbitrary<World> {
  return versions(invoking).chain((all) =>
    fc
      .record({
        uid: fc.nat(0xffff_ffff).map((n) => n.toString(16).padStart(32, "0")),
        versions: fc.constant(all),
        changes: changesOf(all, stopping),
        happenings: fc.array(happening(invoking), { maxLength: 25 }),
      })
      .map(({ happenings, ...world }) => ({
        ...world,
        happenings: inEpochs(happenings, world.changes),
      })),
  );
}

/** With activities and without. */
export function anyWorlds(stopping: boolean): fc.Arbitrary<World> {
  return fc.boolean().chain((invoking) => worlds(stopping, invoking));
}

const anyType = fc.constantFrom(...TYPES);

/** `ahead`: how many changes that are not in force yet are known, if there are so many. */
function happening(invoking: boolean): fc.Arbitrary<Drawn> {
  return fc.record({
    at: time,
    ahead: fc.nat(2),
    what: fc.oneof(
      { weight: 5, arbitrary: fc.record({ kind: fc.constant("event"), type: anyType }) },
      { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("visit", "alarm") }) },
      { weight: invoking ? 5 : 0, arbitrary: fc.record({ kind: fc.constant("result") }) },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant("crash"),
          type: fc.option(anyType, { nil: null }),
        }),
      },
    ),
  });
}

interface Drawn {
  at: number;
  ahead: number;
  what: { kind: string; type?: string | null };
}

function inEpochs(drawn: readonly Drawn[], changes: readonly Change[]): Happening[] {
  let last = 0;
  return drawn
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, ahead, what }) => {
      const made = changes.filter((change) => change.at <= at).length;
      last = Math.max(last, Math.min(made, epochAt(changes, at) + ahead));
      return { at, epoch: last, ...what } as Happening;
    });
}

/** Epoch of the youngest change that is in force. */
function epochAt(changes: readonly Change[], at: number): number {
  return changes.filter((change) => change.at + LEASE_MS <= at).length;
}

function changesOf(all: Version[], stopping: boolean): fc.Arbitrary<Change[]> {
  const percent = fc.oneof(
    { weight: 3, arbitrary: fc.constant(100) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 100 }) },
  );
  return fc
    .tuple(
      fc.array(fc.record({ at: time, percent, replaces: fc.boolean() }), {
        minLength: 1,
        maxLength: 5,
      }),
      fc.array(
        fc.record({
          at: time,
          rule: fc.nat(4),
          kind: fc.constantFrom("pause", "resume", "retire", "percent"),
          percent,
        }),
        { maxLength: 6 },
      ),
    )
    .chain(([deploys, others]) =>
      fc.tuple(...deploys.map((_, n) => ruleBetween(all, `r_${n}`))).map((rules) => {
        const times = deploys.map(({ at }) => at).sort((a, b) => a - b);
        const changes: Change[] = deploys.map(({ percent: share, replaces }, n) => ({
          at: times[n] as number,
          kind: "deploy",
          rule: rules[n] as WrittenRule,
          percent: share,
          replaces: stopping && replaces && n > 0 ? `r_${n - 1}` : null,
        }));
        for (const { at, rule, kind, percent: share } of others) {
          const ruleId = `r_${rule % rules.length}`;
          if (kind === "percent") changes.push({ at, kind, ruleId, percent: share });
          else if (stopping) changes.push({ at, kind: kind as "pause", ruleId });
        }
        changes.sort((a, b) => a.at - b.at);
        return stopping ? changes : withoutNarrowing(changes);
      }),
    );
}

/** Shares only grow. */
function withoutNarrowing(changes: Change[]): Change[] {
  const shares = new Map<string, number>();
  return changes.filter((change) => {
    if (change.kind === "deploy") shares.set(change.rule.id, change.percent);
    if (change.kind !== "percent") return true;
    const known = shares.get(change.ruleId);
    if (known === undefined || change.percent <= known) return false;
    shares.set(change.ruleId, change.percent);
    return true;
  });
}

/** The version as a definition that can be deployed. */
export function definitionOf({ states }: Version): JsonObject {
  return {
    id: "case",
    initial: "idle",
    states: Object.fromEntries(
      Object.entries(states).map(([name, { on, after, invoke }]) => [
        name,
        {
          ...(invoke && {
            invoke: {
              id: invoke.id,
              src: invoke.src,
              onDone:
                invoke.to === name
                  ? { actions: [{ type: "@xstate.log", args: ["done"] }] }
                  : invoke.to,
            },
          }),
          on: Object.fromEntries(
            Object.entries(on).map(([type, to]) => [
              type,
              to === name ? { actions: [{ type: "@xstate.log", args: [type] }] } : to,
            ]),
          ),
          ...(after && {
            after: {
              [after.delayMs]:
                after.to === name
                  ? { actions: [{ type: "@xstate.log", args: ["late"] }] }
                  : after.to,
            },
          }),
        },
      ]),
    ),
  };
}
