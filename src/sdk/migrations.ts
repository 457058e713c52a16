import type { StateValue } from "./actor-types.ts";
import type { Problem } from "./errors.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { sendKeyed } from "./keyed.ts";
import type { KeyedOptions, Replayable } from "./keyed.ts";
import { eachItem } from "./pages.ts";
import type { Page } from "./pages.ts";
import { pathId } from "./path.ts";
import { sleep } from "./retry.ts";
import type { CallOptions, Transport } from "./transport.ts";

export type Match = "prefix" | "subsequence" | "exact" | "all";

/** Whom a migration moves, and how. */
export interface RuleOptions {
  /** Event types, in the order in which an actor must have handled them; none with `match: "all"`. */
  historyPath?: string[] | undefined;
  /** `prefix` unless told. */
  match?: Match | undefined;
  /** Where histories begin: at the actor's birth, unless told. */
  since?: "birth" | "entry" | undefined;
  /** Paths of old states to paths of new ones; what is not named keeps its path. */
  stateMapping?: { [path: string]: string | string[] } | undefined;
  /** Dotted paths in the context to values with expressions. */
  contextMapping?: object | undefined;
  /** What becomes of actors that cannot be moved: they stay, unless told. */
  onUnmappable?: "stay" | "strand" | undefined;
  /** 0 to 100, of the actors that the rule may take; 100 unless told. */
  percent?: number | undefined;
}

export interface MigrationRequest extends RuleOptions {
  from: string;
  to: string;
  /** A rule that is retired at the same moment. */
  replaces?: string | undefined;
  /** Of the plan of this very request. */
  confirmToken?: string | undefined;
}

/** How many logs are replayed on the new version. */
export interface PreviewOptions {
  replay?: { sample: number } | undefined;
}

export interface MigrationRule {
  id: string;
  from: string;
  to: string;
  historyPath: string[];
  match: Match;
  since: "birth" | "entry";
  stateMapping: { [path: string]: string | string[] };
  contextMapping: JsonObject;
  onUnmappable: "stay" | "strand";
  percent: number;
  /** `sweeping` until all who match or may match were asked; `active` then, for those who may come. */
  state: "sweeping" | "active" | "paused" | "retired";
  /** ISO 8601, like the one below. */
  deployedAt: string;
  /** When every actor goes by its last change. */
  inForceAt: string;
  replaces: string | null;
  replacedBy: string | null;
}

/** A rule that was just made. */
export interface MadeRule extends MigrationRule {
  /** What is allowed and doubtful, such as an event in the path that the version does not know. */
  warnings: Problem[];
  /** Actors that handled the path's events in order, but not as the rule wants. */
  nearMisses?: number;
}

export interface MigrationProgress extends MigrationRule {
  counts: {
    /** Those that were moved too. */
    match: number;
    migrated: number;
    pending: number;
    diverged: number;
    /** Those that the rule stopped too. */
    unmappable: number;
    heldByCanary: number;
    finished: number;
    /** They could not be asked. */
    failed: number;
  };
  sweep: {
    startedAt: string | null;
    finishedAt: string | null;
    /** Entries of the directory that it went over. */
    visited: number;
    /** Actors that it asked. */
    woken: number;
  };
}

export type MigrationOutcome = "migrated" | "unmappable" | "stranded" | "rolled_back" | "failed";

export interface MigrationItem {
  actorId: string;
  outcome: MigrationOutcome;
  reason?: string;
  /** The record after which the rule matched; null where the actor could not be asked. */
  decidedAtSeq: number | null;
  /** ISO 8601. */
  at: string;
}

export type HistoryDecision = "pending" | "match" | "diverged";

interface Carried {
  kept: number;
  cancelled: number;
  started: number;
}

/** What a migration would do. */
export interface MigrationPlan {
  /** Living actors on the definition that they would come from. */
  total: number;
  match: number;
  pending: number;
  diverged: number;
  /** They handled the path's events in order, but not as the rule wants. */
  nearMisses: number;
  byState: {
    definitionId: string;
    stateValue: StateValue;
    targetStateValue: StateValue | null;
    count: number;
    class: HistoryDecision;
  }[];
  /** Actors of states and classes that are not listed. */
  others?: number;
  /** Those that match and cannot be moved. */
  unmappableTotal: number;
  unmappable: { stateValue: StateValue; reason: string; count: number; sampleIds: string[] }[];
  timers: Carried;
  activities: Carried;
  sampleIds: { match: string[]; pending: string[]; diverged: string[]; nearMisses: string[] };
  /** With `replay`: whether each log runs on the new version. */
  replay?: {
    actorId: string;
    ran: boolean;
    /** Why its log could not be run at all. */
    reason?: string;
    firstDivergence?: { seq: number; expected: JsonValue; actual: JsonValue };
  }[];
  /** Lets the very same request through although actors cannot be moved; once, for ten minutes. */
  confirmToken: string;
  warnings: Problem[];
  /** ISO 8601. */
  asOf: string;
}

type Act = (ruleId: string, options?: KeyedOptions) => Promise<Replayable<MigrationRule>>;

export interface MigrationsApi {
  /** Makes a rule between two definitions that are deployed. Refused with a plan if some actors cannot be moved. */
  create(request: MigrationRequest, options?: KeyedOptions): Promise<Replayable<MadeRule>>;
  /** What `create` would do. Stores nothing. */
  preview(
    request: MigrationRequest,
    options?: CallOptions & PreviewOptions,
  ): Promise<MigrationPlan>;
  /** All rules, newest first, page by page. */
  list(options?: CallOptions & { limit?: number | undefined }): AsyncIterable<MigrationRule>;
  get(ruleId: string, options?: CallOptions): Promise<MigrationProgress>;
  /** What became of each actor, or those with one outcome, page by page. */
  items(
    ruleId: string,
    options?: CallOptions & {
      outcome?: MigrationOutcome | undefined;
      limit?: number | undefined;
    },
  ): AsyncIterable<MigrationItem>;
  /** It moves nobody until resumed. */
  pause: Act;
  resume: Act;
  /** Ends the rule for good. Whom it has moved stays moved. */
  retire: Act;
  /** Sweeps once more. */
  retry: Act;
  /** Lets the rule take more actors, or fewer. */
  setPercent(ruleId: string, percent: number, options?: CallOptions): Promise<MigrationRule>;
  /**
   * Asks every `intervalMs` (2,000 unless told) until the rule is not sweeping: its sweep has ended, or the rule was
   * paused or retired. The `signal` ends it earlier.
   */
  waitUntilSwept(
    ruleId: string,
    options?: CallOptions & { intervalMs?: number | undefined },
  ): Promise<MigrationProgress>;
}

const root = "/v1/migrations";
const pathOf = (ruleId: string) => `${root}/${pathId(ruleId, "rule id")}`;
const INTERVAL_MS = 2_000;

export function migrationsApi(transport: Transport): MigrationsApi {
  const act =
    (action: "pause" | "resume" | "retire" | "retry"): Act =>
    async (ruleId, options = {}) =>
      sendKeyed<MigrationRule>(transport, { path: `${pathOf(ruleId)}/${action}` }, options);

  async function get(ruleId: string, options?: CallOptions): Promise<MigrationProgress> {
    const call = { method: "GET", path: pathOf(ruleId), options } as const;
    return (await transport.send<MigrationProgress>(call)).body;
  }

  return {
    get,
    pause: act("pause"),
    resume: act("resume"),
    retire: act("retire"),
    retry: act("retry"),
    async create(request, options = {}) {
      return sendKeyed<MadeRule>(transport, { path: root, body: request }, options);
    },
    async preview(request, { replay, ...options } = {}) {
      const call = { path: `${root}/preview`, body: { ...request, replay }, options };
      return (await transport.send<MigrationPlan>({ method: "POST", safe: true, ...call })).body;
    },
    list({ limit, ...options } = {}) {
      return eachItem(async (cursor) => {
        const call = { path: root, query: { limit, cursor }, options };
        return (await transport.send<Page<MigrationRule>>({ method: "GET", ...call })).body;
      });
    },
    items(ruleId, { outcome, limit, ...options } = {}) {
      return eachItem(async (cursor) => {
        const query = { outcome, limit, cursor };
        const call = { path: `${pathOf(ruleId)}/items`, query, options };
        return (await transport.send<Page<MigrationItem>>({ method: "GET", ...call })).body;
      });
    },
    async setPercent(ruleId, percent, options) {
      const call = { method: "PATCH", path: pathOf(ruleId), body: { percent }, options } as const;
      return (await transport.send<MigrationRule>(call)).body;
    },
    async waitUntilSwept(ruleId, { intervalMs = INTERVAL_MS, ...options } = {}) {
      if (!(Number.isFinite(intervalMs) && intervalMs > 0)) {
        throw new RangeError("intervalMs must be a number of milliseconds above 0");
      }
      for (;;) {
        const rule = await get(ruleId, options);
        if (rule.state !== "sweeping") return rule;
        // When the signal ends the pause, the next call says so.
        await sleep(intervalMs, options.signal).catch(() => {});
      }
    },
  };
}
