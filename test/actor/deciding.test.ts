import { runInDurableObject } from "cloudflare:test";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Decider, decideByLog } from "../../src/actor/decider.ts";
import type { Draft } from "../../src/actor/decider.ts";
import { rowOf } from "../../src/actor/record-rows.ts";
import type { Actor } from "../../src/lifecycle/actor.ts";
import type { Envelope, LogRecord } from "../../src/lifecycle/types.ts";
import { compile } from "../../src/migration/compile.ts";
import { fingerprintOf } from "../../src/fingerprint/kernel.ts";
import { parsePattern } from "../../src/migration/pattern.ts";
import type { ReadyRule } from "../../src/registry/rule-cache.ts";
import { appendRow } from "../../src/storage/actor-log.ts";
import { createActorTables } from "../../src/storage/actor-schema.ts";
import { Db } from "../../src/storage/db.ts";
import { objectOf } from "../support/actors.ts";
import { fresh } from "../support/api.ts";
import { EVENTS, SYSTEM, written } from "../support/histories.ts";
import { referenceAt, referenceDecision } from "../support/history-reference.ts";

/**
 * `move` and `back` bring the actor to another definition and to the one before, as a move and a rollback do.
 * `ask` of one rule: the others are not read at this moment.
 */
type Step =
  | { do: "take"; type: string | null; handled: boolean }
  | { do: "ask"; rule: number }
  | { do: "mark" | "goBack" | "commit" | "lose" | "evict" | "move" | "back" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("take" as const),
      type: fc.option(fc.constantFrom(...EVENTS, ...SYSTEM), { freq: 8, nil: null }),
      handled: fc.integer({ min: 0, max: 5 }).map((n) => n > 0),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("ask" as const), rule: fc.nat(5) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("mark", "goBack", "commit", "commit", "lose", "evict", "move", "back"),
    }),
  },
);

const rules = fc
  .array(fc.tuple(written, fc.constantFrom("birth" as const, "entry" as const)), {
    minLength: 1,
    maxLength: 6,
  })
  .map((some) => some.map(([rule, since]) => ({ ...rule, since })));

const BLANK: Omit<LogRecord, "seq" | "at" | "kind" | "type" | "handled"> = {
  payload: null,
  key: null,
  request: null,
  by: null,
  principal: null,
  reason: null,
  stateValue: "idle",
  decisions: null,
  emitted: [],
  effects: [],
  result: null,
  fingerprint: "",
  epoch: 0,
  timer: null,
  error: null,
};

type Place = Pick<Envelope, "definitionId" | "entered"> & { before: Place | null };

/** What a transaction has before it is committed. */
interface Open {
  draft: Draft;
  records: LogRecord[];
  place: Place;
}

/** One actor's log and whoever decides by it, as the actor's own room holds them. */
class Course {
  readonly #db: Db;
  readonly #rules: readonly ReadyRule[];
  #decider: Decider;
  #log: LogRecord[] = [];
  #place: Place = { definitionId: "v1", entered: { seq: 1, steps: 0 }, before: null };
  #open: Open;
  /** Matches in this transaction. */
  #asked: { ready: ReadyRule; after: number; atSeq: number; through: number }[] = [];
  #mark: { records: number; place: Place } | null = null;

  constructor(db: Db, ready: readonly ReadyRule[]) {
    this.#db = db;
    this.#rules = ready;
    db.run("DELETE FROM log");
    this.#decider = new Decider(db);
    // A newborn has no log yet: its first record is of the transaction that commits it.
    this.#open = { draft: this.#decider.draft(null), records: [], place: this.#place };
    this.#add("spawned", null, null);
  }

  run(step: Step): void {
    const open = this.#open;
    switch (step.do) {
      case "take":
        this.#add("event", step.type, step.handled);
        break;
      case "ask":
        this.#ask(this.#rules[step.rule % this.#rules.length] as ReadyRule);
        break;
      case "mark":
        this.#mark = { records: open.records.length, place: open.place };
        break;
      case "goBack": {
        if (this.#mark === null) break;
        open.records.length = this.#mark.records;
        open.place = this.#mark.place;
        open.draft.restart();
        this.#asked = this.#asked.filter(({ through }) => through <= this.#seq);
        break;
      }
      case "commit":
        this.#commit();
        break;
      case "lose":
        // The birth is not lost here: without it there is no actor.
        if (this.#log.length > 0) this.#begin();
        break;
      case "evict":
        if (this.#log.length === 0) break;
        this.#decider = new Decider(this.#db);
        this.#begin();
        break;
      case "move": {
        this.#add("migrated", null, null);
        const seq = this.#seq;
        open.place = { definitionId: `v${seq}`, entered: { seq, steps: 0 }, before: open.place };
        break;
      }
      case "back": {
        const { before } = open.place;
        if (before === null) break;
        this.#add("rolled_back", null, null);
        open.place = before;
        break;
      }
    }
  }

  /** All rules, as at a point. */
  askAll(): void {
    for (const rule of this.#rules) this.#ask(rule);
  }

  get #all(): LogRecord[] {
    return [...this.#log, ...this.#open.records];
  }

  get #seq(): number {
    return this.#all.length;
  }

  #envelope(place: Place, records: readonly LogRecord[]): Envelope {
    const events = records.flatMap(({ type, handled }) =>
      handled === true && type !== null && !type.startsWith("@") ? [type] : [],
    );
    const history = { fingerprint: fingerprintOf(events), length: events.length, steps: null };
    const { definitionId, entered } = place;
    return { definitionId, entered, history, seq: records.length } as unknown as Envelope;
  }

  #add(kind: LogRecord["kind"], type: string | null, handled: boolean | null): void {
    const seq = this.#seq + 1;
    const record = { seq, at: seq, kind, type, handled: type === null ? null : handled };
    this.#open.records.push({ ...BLANK, ...record });
  }

  /** The draft says what the whole history does by names alone, wherever its records are by now. */
  #ask(ready: ReadyRule): void {
    const { draft, records, place } = this.#open;
    const { decision, atSeq } = draft.decide(ready, this.#envelope(place, this.#all), records);
    const after = ready.rule.since === "birth" ? 0 : place.entered.seq;
    const steps = this.#all.filter(
      ({ seq, type, handled }) => seq > after && handled === true && type !== null,
    );
    const types = steps.map(({ type }) => type as string);
    const expected = referenceDecision(ready.rule, types);
    // Of hashes a draft may learn that nothing matches, before it learns what the names say.
    expect(decision === "match").toBe(expected === "match");
    if (decision !== "match") return;
    const { match } = ready.rule;
    if (match === "prefix" || match === "subsequence") {
      expect(atSeq).toBe(steps[referenceAt(ready.rule, types) - 1]?.seq);
    } else expect(atSeq).toBeLessThanOrEqual(Math.max(this.#seq, 1));
    this.#asked.push({ ready, after, atSeq, through: this.#seq });
  }

  #commit(): void {
    const { records, place } = this.#open;
    for (const record of records) appendRow(this.#db, rowOf(record));
    this.#log = this.#all;
    // As Resident.commit does it.
    if (place.definitionId === this.#place.definitionId) this.#decider.committed(records);
    else this.#decider.forget();
    this.#place = place;
    for (const { ready, after, atSeq, through } of this.#asked) {
      const byLog = decideByLog(this.#db, ready, after, through);
      expect(byLog).toEqual({ decision: "match", atSeq });
    }
    this.#begin();
  }

  #begin(): void {
    const actor = { envelope: this.#envelope(this.#place, this.#log) } as Actor;
    const draft = this.#decider.draft(actor);
    this.#open = { draft, records: [], place: this.#place };
    this.#mark = null;
    this.#asked = [];
  }
}

test("a draft decides as the whole log does, whatever is taken, taken back, committed, lost, evicted and moved", async () => {
  const commits = await runInDurableObject(objectOf(fresh("a")), (_, { storage }) => {
    const db = new Db(storage);
    createActorTables(db);
    let made = 0;
    fc.assert(
      fc.property(
        rules,
        fc.array(step, { minLength: 10, maxLength: 60 }),
        fc.boolean(),
        (some, steps, eager) => {
          const course = new Course(db, some.map(readyOf));
          for (const one of steps) {
            course.run(one);
            if (eager) course.askAll();
            if (one.do === "commit") made += 1;
          }
          course.askAll();
          course.run({ do: "commit" });
          course.askAll();
        },
      ),
      { numRuns: 1_500 },
    );
    return made;
  });
  expect(commits).toBeGreaterThan(500);
});

function readyOf(rule: { since: "birth" | "entry" } & object, n: number): ReadyRule {
  const parsed = parsePattern(rule);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return { rule: { ...rule, id: `r_${n}` }, compiled: compile(parsed.pattern) } as never;
}
