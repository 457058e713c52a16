import { refuse } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { Reply } from "../base/reply.ts";
import { streamOpened } from "../base/stream-call.ts";
import { isFinished } from "../lifecycle/actor.ts";
import { actorMeant } from "./guards.ts";
import { answer } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { StreamQuery } from "./rpc.ts";
import type { Streams } from "./streams.ts";

/** Opens a stream: 101 with its WebSocket, or a reply. */
export async function openStream(
  resident: Resident,
  streams: Streams,
  query: StreamQuery,
): Promise<Reply | Response> {
  const { id, after, until, credit, granted } = query;
  await resident.load();
  const actor = actorMeant(resident, query);
  if ("failure" in actor) return actor;
  const { envelope } = actor;
  const { seq, uid } = envelope;
  if (after !== null && after > seq) return refuseBeyond(id, seq);
  const sent = after ?? seq;
  // 204 tells an EventSource that there is nothing to come back for; a WebSocket learns it by its end.
  if (granted && sent === seq && isFinished(envelope)) return answer(204, null, seq);
  if (streams.full()) {
    const detail = `${LIMITS.streamsPerActor} streams of this actor are open already (limit streamsPerActor).`;
    return refuse("rate_limited", detail);
  }
  const pair = new WebSocketPair();
  streams.begin(pair[1], { uid, sent, credit, granted, until });
  return streamOpened(pair[0], sent);
}

function refuseBeyond(id: string, seq: number): Reply {
  const message = `is beyond the last record, which is ${seq}`;
  return refuse(
    "invalid_request",
    `The actor '${id}' has records 1 to ${seq}; a stream cannot go on after a later one. Read the actor, and begin anew.`,
    { errors: [{ pointer: "/lastEventId", code: "too_big", message: `(query) ${message}` }] },
  );
}
