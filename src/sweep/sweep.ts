import { callObject } from "../base/call-object.ts";
import { LIMITS } from "../base/limits.ts";
import { given } from "../base/refused.ts";
import { within } from "../base/within.ts";
import type { Env } from "../env.ts";
import type { SweepOrder } from "../registry/rpc.ts";
import type { AlarmClock } from "../storage/alarm-clock.ts";
import type { Db } from "../storage/db.ts";
import { storedVersion } from "../storage/schema.ts";
import { readSweep, saveSweep } from "../storage/sweep-course.ts";
import { countFailures, reviveFailures, settleFailures } from "../storage/sweep-failures.ts";
import type { FailureCounts } from "../storage/sweep-failures.ts";
import { openSweep } from "../storage/sweep-schema.ts";
import { NOT_BEGUN, abandon, follow, stepOf } from "./course.ts";
import type { Course, Orders, Place, Step } from "./course.ts";
import { Ahead } from "./pages.ts";

/** ms that a look at the rule holds: so long a pause may go unseen whose poke was lost. */
const LOOK_MS = 1_000;
/** Actors out of reach that may wait before no new page is begun. */
const CROWD = 500;

/** Whose sweep it is. */
interface SweepName {
  tenant: string;
  ruleId: string;
}

/** One sweep while its object is awake. What is stored is the truth; the rest is known for this life only. */
export class Sweep {
  readonly db: Db;
  readonly env: Env;
  readonly alarm: AlarmClock;
  readonly ahead: Ahead;
  /** The page that an earlier life was asking when it ended. */
  lost: Place | null = null;
  #opened = false;
  #stored: { name: SweepName; course: Course } | null = null;
  #counts: FailureCounts | null = null;
  #order: SweepOrder | null = null;
  #lookedAt = 0;
  #glancing = false;

  constructor(db: Db, env: Env, alarm: AlarmClock) {
    this.db = db;
    this.env = env;
    this.alarm = alarm;
    this.ahead = new Ahead(env);
  }

  /** The sweep as it is stored; null where there is none. Writes nothing. */
  stored(): { name: SweepName; course: Course } | null {
    if (this.#stored !== null) return this.#stored;
    if (!this.#opened && storedVersion(this.db) === 0) return null;
    const row = readSweep(this.#open());
    if (row === null) return null;
    const { tenant, ruleId, course } = row;
    this.#stored = {
      name: { tenant, ruleId },
      course: { ...NOT_BEGUN, ...(JSON.parse(course) as Course) },
    };
    this.lost = this.#stored.course.asking;
    return this.#stored;
  }

  get name(): SweepName {
    return this.#known().name;
  }

  get course(): Course {
    return this.#known().course;
  }

  failures(): FailureCounts {
    this.#counts ??= countFailures(this.#open());
    return this.#counts;
  }

  /** Writes down how far it is, and in the same transaction what `more` writes. */
  save(name: SweepName, course: Course, more?: (db: Db) => void): void {
    const db = this.#open();
    if (more) this.#counts = null;
    db.transaction(() => {
      saveSweep(db, { ...name, course: JSON.stringify(course) });
      more?.(db);
    });
    this.#stored = { name, course };
  }

  /** Asks the registry for the rule; null when there is none. */
  async order({ tenant, ruleId }: SweepName): Promise<SweepOrder | null> {
    const { REGISTRY } = this.env;
    const call = callObject(REGISTRY, tenant, true, (registry) => registry.rule(ruleId));
    return given(await within(LIMITS.sweepCallMs, call));
  }

  /** Goes by what the registry said. `again`: another pass, and failures have all their attempts anew. */
  take(name: SweepName, order: SweepOrder, again: boolean): void {
    if (this.#order === null || order.epoch >= this.#order.epoch) this.#order = order;
    const course = this.stored()?.course ?? NOT_BEGUN;
    const now = Date.now();
    const next = follow(course, ordersOf(order), again, now);
    if (next === course) return;
    const retired = next.pass === null && course.pass !== null;
    this.save(name, next, (db) => {
      if (retired) settleFailures(db);
      else if (again) reviveFailures(db, now);
    });
  }

  /** The rule, as it was a moment ago; `fresh`: as it is now. Null where there is none, and the sweep has ended. */
  async look(fresh = false): Promise<SweepOrder | null> {
    const at = Date.now();
    if (!fresh && this.#order !== null && at - this.#lookedAt < LOOK_MS) return this.#order;
    const { name } = this;
    const order = await this.order(name);
    if (order === null) {
      this.#end();
      return null;
    }
    this.take(name, order, false);
    this.#lookedAt = at;
    return this.#order;
  }

  /** The registry was put back to a time before the rule: nobody moves by it, and there is nobody to tell. */
  #end(): void {
    const next = abandon(this.course, Date.now());
    this.#order = null;
    if (next !== this.course) this.save(this.name, next, settleFailures);
  }

  /** Looks at the rule beside the work, if the last look is old. */
  glance(): void {
    if (this.#glancing || Date.now() - this.#lookedAt < LOOK_MS) return;
    this.#glancing = true;
    // The look before the next page says what is wrong.
    void this.look(true)
      .catch(() => {})
      .finally(() => {
        this.#glancing = false;
      });
  }

  step(order: SweepOrder): Step {
    const { waiting, failing } = this.failures();
    const failures = { waiting: waiting > 0, crowded: failing >= CROWD };
    return stepOf(this.course, ordersOf(order), failures, Date.now());
  }

  #open(): Db {
    if (!this.#opened) {
      openSweep(this.db);
      this.#opened = true;
    }
    return this.db;
  }

  #known(): { name: SweepName; course: Course } {
    const stored = this.stored();
    if (stored === null) throw new Error("There is no sweep here");
    return stored;
  }
}

function ordersOf({ rule, epoch }: SweepOrder): Orders {
  return { state: rule.state, epoch, inForceAt: rule.inForceAt };
}
