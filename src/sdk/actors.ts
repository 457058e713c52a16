import type { Actor, ActorExport, ActorState, ReplayAnswer } from "./actor-types.ts";
import type { JsonObject } from "./json.ts";
import { ifMatchHeader, sendKeyed } from "./keyed.ts";
import type { ActorOptions, KeyedOptions, Replayable } from "./keyed.ts";
import { pathId } from "./path.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface SpawnOptions extends KeyedOptions {
  /** Left out: one is derived from the key, so that a repeat finds the same actor. */
  id?: string | undefined;
  input?: unknown;
  /** Laid over the machine's initial context, first level only. */
  context?: object | undefined;
  refs?: { [name: string]: string } | undefined;
  /** Adopts a persisted XState v5 snapshot, or `{value, context}`. */
  snapshot?: object | undefined;
  /** Who wants it, for the log. */
  by?: string | undefined;
}

export interface ActorsApi {
  /** Spawns an actor of a definition, or of a family: then of its newest root. */
  spawn<Context = JsonObject>(
    definitionId: string,
    options?: SpawnOptions,
  ): Promise<Replayable<Actor<Context>>>;
  /** Where the actor stands, without its history, timers and refs. */
  getState<Context = JsonObject>(
    actorId: string,
    options?: CallOptions,
  ): Promise<ActorState<Context>>;
  /** The actor; with `at`, as it was after that record. */
  getActor<Context = JsonObject>(
    actorId: string,
    options?: CallOptions & { at?: number | undefined },
  ): Promise<Actor<Context>>;
  /** Sets references; null removes one. Sent once: repeats could undo another caller's change. */
  setRefs<Context = JsonObject>(
    actorId: string,
    refs: { [name: string]: string | null },
    options?: CallOptions & ActorOptions,
  ): Promise<Actor<Context>>;
  /** Whether the log, played again, leads to the same actor; or, on another definition, would run. */
  replay(
    actorId: string,
    options?: CallOptions & { definitionId?: string | undefined },
  ): Promise<ReplayAnswer>;
  exportActor(actorId: string, options?: CallOptions): Promise<ActorExport>;
  /** Erases the actor with its log. The id may be used again. */
  deleteActor(actorId: string, options?: CallOptions & ActorOptions): Promise<void>;
}

export const actorPath = (actorId: string) => `/v1/actors/${pathId(actorId, "actor id")}`;

export function actorsApi(transport: Transport): ActorsApi {
  async function getActor<Context>(
    actorId: string,
    { at, ...options }: CallOptions & { at?: number | undefined } = {},
  ): Promise<Actor<Context>> {
    const call = { path: actorPath(actorId), query: { at }, options } as const;
    return (await transport.send<Actor<Context>>({ method: "GET", ...call })).body;
  }

  return {
    getActor,
    async spawn<Context>(definitionId: string, options: SpawnOptions = {}) {
      const { id, input, context, refs, snapshot, by, ...keyed } = options;
      const body = { definitionId, id, input, context, refs, snapshot, by };
      return sendKeyed<Actor<Context>>(transport, { path: "/v1/actors", body }, keyed);
    },
    async getState<Context>(actorId: string, options?: CallOptions): Promise<ActorState<Context>> {
      const actor = await getActor<Context>(actorId, options);
      const { definitionId, stateValue, context, tags, status } = actor;
      const { done, output, error, seq, nextEvents } = actor;
      const state = { definitionId, stateValue, context, tags, status };
      return { ...state, done, output, error, seq, nextEvents };
    },
    async setRefs<Context>(
      actorId: string,
      refs: { [name: string]: string | null },
      { ifMatch, ...options }: CallOptions & ActorOptions = {},
    ) {
      const call = { path: actorPath(actorId), headers: ifMatchHeader(ifMatch), body: { refs } };
      return (await transport.send<Actor<Context>>({ method: "PATCH", ...call, options })).body;
    },
    async replay(actorId, { definitionId, ...options } = {}) {
      const call = { path: `${actorPath(actorId)}/replay`, body: { definitionId }, options };
      return (await transport.send<ReplayAnswer>({ method: "POST", safe: true, ...call })).body;
    },
    async exportActor(actorId, options) {
      const call = { path: `${actorPath(actorId)}/export`, options };
      return (await transport.send<ActorExport>({ method: "GET", ...call })).body;
    },
    async deleteActor(actorId, { ifMatch, ...options } = {}) {
      const call = { path: actorPath(actorId), headers: ifMatchHeader(ifMatch), options };
      await transport.send<void>({ method: "DELETE", ...call });
    },
  };
}
