import type { Actor, ActorStatus, ActorSummary, AttentionReason } from "./actor-types.ts";
import type { StateValue } from "./actor-types.ts";
import type { SpawnOptions } from "./actors.ts";
import type { ProblemDocument } from "./errors.ts";
import type { JsonObject } from "./json.ts";
import { sendKeyed } from "./keyed.ts";
import type { KeyedOptions } from "./keyed.ts";
import { eachItem } from "./pages.ts";
import type { Page } from "./pages.ts";
import { pathId } from "./path.ts";
import type { Call, CallOptions, Transport } from "./transport.ts";

/** Which actors; what is given must hold together. */
export interface ActorFilter {
  definitionId?: string | undefined;
  family?: string | undefined;
  status?: ActorStatus | undefined;
  /** Path of a state that is active, on its own or inside parallel ones. */
  state?: string | undefined;
  tag?: string | undefined;
  /** References that the actor has, five at most. */
  refs?: { [name: string]: string } | undefined;
  /** True: somebody should look at it; false: nobody has to; or why. */
  attention?: boolean | AttentionReason | undefined;
  /** Its last record is younger. */
  updatedAfter?: Date | string | undefined;
}

export interface ActorCount {
  total: number;
  /** With `groupBy`, the largest first: each has the member it is grouped by. */
  groups: {
    stateValue?: StateValue;
    status?: ActorStatus;
    definitionId?: string;
    count: number;
  }[];
  /** Actors in groups that are too many to list. */
  others?: number;
  asOf: string;
}

export interface DefinitionStats {
  total: number;
  byStatus: { [status in ActorStatus]: number };
  /** The states with most actors first. */
  byState: { stateValue: StateValue; count: number }[];
  /** Actors in states that are too many to list. */
  otherStates?: number;
  asOf: string;
}

/** One actor of `spawnMany`. */
export type ActorToSpawn = { definitionId: string } & Pick<
  SpawnOptions,
  "id" | "input" | "context" | "refs" | "snapshot" | "by"
>;

/** What became of one of them: the actor, or why there is none. */
export interface SpawnedItem<Context = JsonObject> {
  index: number;
  /** As if it had been spawned alone. */
  status: number;
  actor?: Actor<Context>;
  problem?: ProblemDocument;
}

export interface FleetApi {
  /** Actors, youngest first, page by page; `limit` is the size of a page. */
  listActors(
    filter?: ActorFilter,
    options?: CallOptions & { limit?: number | undefined },
  ): AsyncIterable<ActorSummary>;
  countActors(
    filter?: ActorFilter,
    options?: CallOptions & { groupBy?: "state" | "status" | "definitionId" | undefined },
  ): Promise<ActorCount>;
  /** Where the actors of a definition stand. */
  definitionStats(id: string, options?: CallOptions): Promise<DefinitionStats>;
  /** Spawns up to 500 actors, each for itself: one that fails does not touch the others. */
  spawnMany<Context = JsonObject>(
    actors: ActorToSpawn[],
    options?: KeyedOptions,
  ): Promise<SpawnedItem<Context>[]>;
  /** The own tenant's numbers in the Prometheus text format. */
  metrics(options?: CallOptions): Promise<string>;
}

export function fleetApi(transport: Transport): FleetApi {
  return {
    listActors(filter, { limit, ...options } = {}) {
      return eachItem(async (cursor) => {
        const call = { path: "/v1/actors", query: { ...queryOf(filter), limit, cursor }, options };
        return (await transport.send<Page<ActorSummary>>({ method: "GET", ...call })).body;
      });
    },
    async countActors(filter, { groupBy, ...options } = {}) {
      const call = { path: "/v1/actors/count", query: { ...queryOf(filter), groupBy }, options };
      return (await transport.send<ActorCount>({ method: "GET", ...call })).body;
    },
    async definitionStats(id, options) {
      const path = `/v1/definitions/${pathId(id, "definition id")}/stats`;
      return (await transport.send<DefinitionStats>({ method: "GET", path, options })).body;
    },
    async spawnMany<Context>(actors: ActorToSpawn[], options: KeyedOptions = {}) {
      const call = { path: "/v1/actors/bulk", body: { actors } };
      type Spawned = { items: SpawnedItem<Context>[] };
      return (await sendKeyed<Spawned>(transport, call, options)).items;
    },
    async metrics(options) {
      const call = { path: "/v1/metrics", text: true, options } as const;
      return (await transport.send<string>({ method: "GET", ...call })).body;
    },
  };
}

function queryOf(filter: ActorFilter = {}): NonNullable<Call["query"]> {
  const { refs = {}, updatedAfter, ...rest } = filter;
  const query: NonNullable<Call["query"]> = { ...rest };
  for (const [name, value] of Object.entries(refs)) query[`ref.${name}`] = value;
  if (updatedAfter !== undefined) {
    query["updatedAfter"] =
      updatedAfter instanceof Date ? updatedAfter.toISOString() : updatedAfter;
  }
  return query;
}
