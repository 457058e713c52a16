import type { JsonObject, JsonValue } from "../base/json.ts";
import type { Reply } from "../base/reply.ts";
import { isoTime } from "../base/time.ts";
import { stateRows } from "../storage/actor-log.ts";
import type { StateRow } from "../storage/actor-log.ts";
import { actorMeant } from "./guards.ts";
import { answer } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { Address } from "./rpc.ts";

interface Stay {
  /** JSON of the state value. */
  state: string;
  entered: StateRow;
  left: StateRow | null;
}

function stayView({ state, entered, left }: Stay): JsonObject {
  return {
    state: JSON.parse(state) as JsonValue,
    enteredAt: isoTime(entered.at),
    enteredSeq: entered.seq,
    leftAt: left && isoTime(left.at),
    leftSeq: left && left.seq,
    durationMs: left && left.at - entered.at,
    by: entered.type ?? entered.kind,
  };
}

/** The states it stood in, one after the other; the present one has no end yet. */
export async function timeline(
  resident: Resident,
  query: Address & { after: number; limit: number },
): Promise<Reply> {
  const { after, limit } = query;
  await resident.load();
  const actor = actorMeant(resident, query);
  if ("failure" in actor) return actor;
  const stays: Stay[] = [];
  let nextAfter: number | null = null;
  for (const row of stateRows(resident.db, after)) {
    const last = stays.at(-1);
    if (last?.state === row.state) continue;
    if (last) last.left = row;
    if (stays.length === limit) {
      nextAfter = row.seq - 1;
      break;
    }
    stays.push({ state: row.state, entered: row, left: null });
  }
  const items = stays.map(stayView);
  return answer(200, { items, nextAfter }, actor.envelope.seq);
}
