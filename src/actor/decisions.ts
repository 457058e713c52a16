import { callObject } from "../base/call-object.ts";
import type { JsonObject } from "../base/json.ts";
import { othersTurn } from "../base/pause.ts";
import { given } from "../base/refused.ts";
import type { Reply } from "../base/reply.ts";
import { isoTime } from "../base/time.ts";
import { isFinished } from "../lifecycle/actor.ts";
import type { Envelope } from "../lifecycle/types.ts";
import type { Decided } from "../migration/evaluate.ts";
import { isTaken } from "../migration/rule.ts";
import { readyRule } from "../registry/rule-cache.ts";
import { definitionRows, fingerprintAt } from "../storage/actor-log.ts";
import { decideAllByLog } from "./decider.ts";
import type { Asked } from "./decider.ts";
import { actorMeant } from "./guards.ts";
import { answer, noSuchActor } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { Address } from "./rpc.ts";

/** The last time that an actor was on a definition: records after `entered`, up to `left`. */
interface Stay {
  entered: number;
  left: number;
}

/**
 * What each rule that is or was about the actor says of its history, computed from log and rules. A rule about a definition
 * that it has left says what it did when the actor left.
 */
export async function decisions(resident: Resident, query: Address): Promise<Reply> {
  const { id, tenant } = query;
  await resident.load();
  const { db, env } = resident;
  const actor = actorMeant(resident, query);
  if ("failure" in actor) return actor;
  const { envelope } = actor;
  const stays = staysOf(resident, envelope);
  const ids = [...stays.keys()];
  const rules = given(
    await callObject(env.REGISTRY, tenant, true, (registry) => registry.rulesFrom(ids)),
  );
  const present = () => resident.actor?.envelope.uid === envelope.uid;
  if (!present()) return noSuchActor(id);
  const asked = rules.map((rule) => {
    const { entered, left } = stays.get(rule.from) as Stay;
    return { rule: readyRule(rule), after: rule.since === "birth" ? 0 : entered, through: left };
  });
  const turn = async () => {
    await othersTurn();
    return present();
  };
  const decided = await decideAllByLog(db, asked, turn);
  if (decided === null) return noSuchActor(id);
  const items = asked.map((one, index) => itemOf(db, envelope, one, decided[index] as Decided));
  return answer(200, { items }, envelope.seq);
}

function staysOf({ db }: Resident, { seq, definitionId, entered }: Envelope): Map<string, Stay> {
  const stays = new Map<string, Stay>();
  const came = definitionRows(db, 0, seq);
  for (const [index, row] of came.entries()) {
    // The record that moves it away is still one of this definition.
    const left = came[index + 1]?.seq ?? seq;
    stays.set(row.id, { entered: row.seq, left });
  }
  // After a rollback it is there since before.
  stays.set(definitionId, { entered: entered.seq, left: seq });
  return stays;
}

function itemOf(
  db: Resident["db"],
  envelope: Envelope,
  { rule: { rule }, through }: Asked,
  { decision, atSeq }: Decided,
): JsonObject {
  const mark = envelope.moves.find(({ ruleId }) => ruleId === rule.id);
  const held =
    decision === "match" &&
    rule.state !== "retired" &&
    rule.from === envelope.definitionId &&
    !isFinished(envelope) &&
    !isTaken(rule, envelope.uid);
  const decided = decision === "pending" ? null : atSeq;
  return {
    ruleId: rule.id,
    from: rule.from,
    to: rule.to,
    decision,
    outcome: mark?.outcome ?? (held ? "held" : "none"),
    ...(mark?.reason === undefined ? {} : { reason: mark.reason }),
    decidedAtSeq: decided,
    fingerprint: fingerprintAt(db, decided ?? through) ?? envelope.history.fingerprint,
    ...(mark === undefined ? {} : { at: isoTime(mark.at) }),
  };
}
