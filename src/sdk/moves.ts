import type { Actor, StateValue } from "./actor-types.ts";
import { actorPath } from "./actors.ts";
import type { ControlOptions } from "./control.ts";
import type { JsonObject } from "./json.ts";
import { ifMatchHeader, sendKeyed } from "./keyed.ts";
import type { ActorOptions, KeyedOptions, Replayable } from "./keyed.ts";
import type { HistoryDecision } from "./migrations.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** What one rule says of an actor's history, and what became of it. */
export interface ActorDecision {
  ruleId: string;
  from: string;
  to: string;
  decision: HistoryDecision;
  outcome: "migrated" | "unmappable" | "stranded" | "held" | "rolled_back" | "none";
  reason?: string;
  /** The record that decided it; null while pending. */
  decidedAtSeq: number | null;
  /** Of the history by which it was decided, 16 hex digits. */
  fingerprint: string;
  /** ISO 8601. */
  at?: string;
}

/** What is set by hand; what is not given stays as it is. */
export interface Rescue {
  stateValue?: StateValue | undefined;
  context?: object | undefined;
  /** Another definition of the same family. */
  definitionId?: string | undefined;
  reason: string;
}

export interface MovesApi {
  /** What each migration rule says of the actor's history. */
  decisions(actorId: string, options?: CallOptions): Promise<ActorDecision[]>;
  /** Undoes the actor's last move; refused once it has accepted anything since. */
  rollback<Context = JsonObject>(
    actorId: string,
    options?: ControlOptions,
  ): Promise<Replayable<Actor<Context>>>;
  /** Sets the actor by hand, on this definition or another; a stranded one is active again. */
  rescue<Context = JsonObject>(
    actorId: string,
    rescue: Rescue,
    options?: KeyedOptions & ActorOptions,
  ): Promise<Replayable<Actor<Context>>>;
}

export function movesApi(transport: Transport): MovesApi {
  return {
    async decisions(actorId, options) {
      const call = { path: `${actorPath(actorId)}/decisions`, options };
      return (await transport.send<{ items: ActorDecision[] }>({ method: "GET", ...call })).body
        .items;
    },
    async rollback<Context>(actorId: string, options: ControlOptions = {}) {
      const { ifMatch, reason, ...keyed } = options;
      const headers = ifMatchHeader(ifMatch);
      const call = { path: `${actorPath(actorId)}/rollback`, body: { reason }, headers };
      return sendKeyed<Actor<Context>>(transport, call, keyed);
    },
    async rescue<Context>(
      actorId: string,
      rescue: Rescue,
      { ifMatch, ...keyed }: KeyedOptions & ActorOptions = {},
    ) {
      const headers = ifMatchHeader(ifMatch);
      const call = { path: `${actorPath(actorId)}/rescue`, body: rescue, headers };
      return sendKeyed<Actor<Context>>(transport, call, keyed);
    },
  };
}
