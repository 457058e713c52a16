import type { Problem } from "./errors.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { MigrationPlan, MigrationRule, PreviewOptions, RuleOptions } from "./migrations.ts";
import { pathId } from "./path.ts";
import { eachItem } from "./pages.ts";
import type { Page } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";
import type { NotHandled, SendableEvent, StateValue } from "./actor-types.ts";

export interface DefinitionSummary {
  id: string;
  /** The machine's own id. */
  family: string;
  /** SHA-256 of the definition's canonical JSON, hex. */
  hash: string;
  parentId: string | null;
  /** ISO 8601. */
  deployedAt: string;
  /** Since when it counts: `deployedAt`, or with a rule when every actor goes by it. */
  inForceAt: string;
  /** What moves actors of the parent, if it was deployed with a rule; as that is now. */
  rule: MigrationRule | null;
}

export interface Definition extends DefinitionSummary {
  /** What is allowed and doubtful, such as a waiting state without any timeout. */
  warnings: Problem[];
  /** The machine config as deployed. */
  definition: JsonObject;
}

export interface Deployed extends DefinitionSummary {
  warnings: Problem[];
  /** Actors that handled the path's events in order, but not as the rule wants. */
  nearMisses?: number;
  /** Whether the very same definition was there already. */
  idempotent: boolean;
  /** In development: whether it took the place of another one that no actor used. */
  replaced?: boolean;
}

export interface Validation {
  valid: boolean;
  errors: Problem[];
  warnings: Problem[];
  /** Paths of all states, in document order. */
  states: string[];
  /** Event types that callers may send. */
  events: string[];
  initialState: StateValue | null;
}

/**
 * A type, an event, time that passes, or what comes of the activity of an invoke: nobody works outside in a scenario.
 * `output` is what `event.output` will hold; an error is `failed` unless it says another code.
 */
export type ScenarioEvent =
  | string
  | SendableEvent
  | { advanceMs: number }
  | { done: string; output?: unknown }
  | { failed: string; error?: ScenarioError };

export interface ScenarioError {
  code?: string;
  message?: string;
  attempts?: number;
  status?: number;
  body?: unknown;
}

export interface Scenario {
  name: string;
  input?: unknown;
  context?: object;
  /** In order. */
  events: ScenarioEvent[];
  /** One per event. */
  expectedStates?: StateValue[];
  expectDone?: boolean;
}

export interface ScenarioStep {
  event: ScenarioEvent;
  stateValue: StateValue;
  /** Whether the machine had a handler for the event; null for time that passes. */
  handled: boolean | null;
  /** Why the event was not handled. */
  reason?: NotHandled;
  expected?: StateValue;
  ok: boolean;
}

export interface ScenarioReport {
  passed: number;
  failed: number;
  results: {
    name: string;
    passed: boolean;
    steps: ScenarioStep[];
    done: boolean;
    error?: unknown;
  }[];
}

/** The machine to play: one that is deployed, or one that is not. */
export type ScenarioSubject = { definitionId: string } | { definition: object };

export interface DefinitionDiff {
  /** Paths, like the one below. */
  statesAdded: string[];
  statesRemoved: string[];
  /**
   * In states that are in both. `event` is the descriptor, or `@always`, `@timer:<delay>`, `@done`,
   * `@done:<invoke id>`, `@error:<invoke id>`; `state` is a path, "" the root.
   */
  transitionsChanged: {
    state: string;
    event: string;
    from: JsonValue;
    to: JsonValue;
  }[];
  initialChanged: { state: string; from: string | null; to: string | null }[];
}

/** The version that a definition descends from, and which of its actors move. */
export interface DeployOptions extends CallOptions, RuleOptions {
  parentId?: string | undefined;
  /** Of the plan of this very deploy. */
  confirmToken?: string | undefined;
}

export interface DefinitionsApi {
  /**
   * Deploys a machine config under an id. The same again changes nothing; the same id with anything
   * different is refused. `parentId` names the version it descends from; with a `historyPath`, or with `match: "all"`,
   * actors of the parent move. Refused with a plan (`members.plan`) if some of them cannot.
   */
  deploy(id: string, definition: object, options?: DeployOptions): Promise<Deployed>;
  /** What a deploy would do with the actors of the parent. Stores nothing. */
  preview(
    id: string,
    definition: object,
    options?: DeployOptions & PreviewOptions,
  ): Promise<MigrationPlan>;
  /** What a deploy would say, also for an invalid one. Stores nothing. */
  validate(definition: object, options?: CallOptions): Promise<Validation>;
  /** Plays scenarios against a machine. Stores nothing. */
  scenario(
    request: ScenarioSubject & { scenarios: Scenario[] },
    options?: CallOptions,
  ): Promise<ScenarioReport>;
  getDefinition(id: string, options?: CallOptions): Promise<Definition>;
  /** All definitions, newest first, page by page; `limit` is the size of a page. */
  listDefinitions(
    options?: CallOptions & { limit?: number | undefined },
  ): AsyncIterable<DefinitionSummary>;
  /** What definition `id` has that definition `against` has not, and the other way round. */
  diff(id: string, against: string, options?: CallOptions): Promise<DefinitionDiff>;
  /** Retires a definition that no unfinished actor needs. Its name stays taken. */
  retireDefinition(id: string, options?: CallOptions): Promise<void>;
}

const root = "/v1/definitions";
const pathOf = (id: string) => `${root}/${pathId(id, "definition id")}`;

export function definitionsApi(transport: Transport): DefinitionsApi {
  return {
    async deploy(id, definition, { signal, timeoutMs, ...members } = {}) {
      const call = { path: root, body: { id, definition, ...members } };
      const options = { signal, timeoutMs };
      return (await transport.send<Deployed>({ method: "PUT", ...call, options })).body;
    },
    async preview(id, definition, { signal, timeoutMs, ...members } = {}) {
      const call = { path: `${root}/preview`, body: { id, definition, ...members } };
      const options = { signal, timeoutMs };
      return (await transport.send<MigrationPlan>({ method: "POST", safe: true, ...call, options }))
        .body;
    },
    async validate(definition, options) {
      const call = { path: `${root}/validate`, body: { definition }, options };
      return (await transport.send<Validation>({ method: "POST", safe: true, ...call })).body;
    },
    async scenario(request, options) {
      const call = { path: `${root}/scenario`, body: request, options };
      return (await transport.send<ScenarioReport>({ method: "POST", safe: true, ...call })).body;
    },
    async getDefinition(id, options) {
      const call = { path: pathOf(id), options };
      return (await transport.send<Definition>({ method: "GET", ...call })).body;
    },
    listDefinitions({ limit, ...options } = {}) {
      return eachItem(async (cursor) => {
        const call = { path: root, query: { limit, cursor }, options };
        return (await transport.send<Page<DefinitionSummary>>({ method: "GET", ...call })).body;
      });
    },
    async diff(id, against, options) {
      const call = { path: `${pathOf(id)}/diff`, query: { against }, options };
      return (await transport.send<DefinitionDiff>({ method: "GET", ...call })).body;
    },
    async retireDefinition(id, options) {
      await transport.send<void>({ method: "DELETE", path: pathOf(id), options });
    },
  };
}
