import { parseActorInput } from "../activities/actor-input.ts";
import type { Outcome } from "../activities/types.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { cancellation } from "./activities.ts";
import { activityFault, withActivity } from "./activity-set.ts";
import type { Actor } from "./actor.ts";
import { control } from "./conclude.ts";
import type { Advanced, RecordPart } from "./conclude.ts";
import { Effects } from "./effects.ts";
import type { Input, Origin } from "./input.ts";
import { takeResult } from "./result.ts";
import { late, runningActivity } from "./settle.ts";
import type { Activity, Child, Envelope } from "./types.ts";

type Report = Extract<Input, { kind: "child_done" | "child_failed" }>;

/** What became of a child. The one that decides its activity steps the machine, the others are only noted. */
export function settleChild(actor: Actor, input: Report, at: number, origin: Origin): Advanced {
  const { kind, ref, index } = input;
  const outcome: Outcome = "output" in input ? { output: input.output } : { error: input.error };
  const activity = runningActivity(actor.envelope, ref);
  const child = activity?.children?.[index];
  const said = { ref, index, ...outcome } as unknown as JsonObject;
  if (activity === null || child === undefined || child.outcome !== null) {
    return late(actor, { kind, payload: said }, outcome, at, origin);
  }
  const { id, src } = activity;
  const part: RecordPart = { kind, payload: { ...said, id, src, child: child.id } };
  const noted = noteChild(actor.envelope, activity, index, outcome);
  const envelope = withActivity(actor.envelope, noted);
  const joined = joinOf(noted);
  if (joined === null) return control(actor, envelope, part, at, origin);
  const effects = new Effects(envelope.seq + 1);
  if ("error" in joined) {
    const cancel = cancellation(noted);
    if (cancel !== null) effects.ask(cancel);
  }
  const unheard = "unheard" in input && input.unheard;
  const result = { outcome: joined, attempts: 1, ...(unheard && { unheard }) };
  return takeResult({ ...actor, envelope }, noted, result, part, at, origin, effects);
}

/** With what a child gave, which has to fit beside everything else that the actor keeps of its activities. */
function noteChild(
  envelope: Envelope,
  activity: Activity,
  index: number,
  outcome: Outcome,
): Activity {
  const noted = (kept: Outcome) => ({
    ...activity,
    children: (activity.children as Child[]).with(index, {
      ...(activity.children?.[index] as Child),
      outcome: kept,
    }),
  });
  const whole = noted(outcome);
  const fault = activityFault(withActivity(envelope, whole));
  if (fault === null) return whole;
  return noted({ error: { code: "too_large", message: fault.message, attempts: 1 } });
}

/** What an activity's children come to; null as long as that is open. */
export function joinOf({ input, children = [] }: Activity): Outcome | null {
  const parsed = parseActorInput(input);
  if (!parsed.ok) return null;
  const { failures, isList } = parsed.value;
  const failed = children.find(({ outcome }) => outcome !== null && "error" in outcome);
  if (failed !== undefined && failures === "stop") return { error: failureOf(failed) };
  const places: JsonValue[] = [];
  for (const { id, outcome } of children) {
    if (outcome === null) return null;
    places.push({ id, ...outcome } as unknown as JsonObject);
  }
  return { output: isList ? places : (places[0] ?? null) };
}

function failureOf({ id, outcome }: Child) {
  const { error } = outcome as Extract<Outcome, { error: unknown }>;
  const message = `The child '${id}' did not end well (${error.code}): ${error.message}`;
  const body = { id, error } as unknown as JsonObject;
  return { code: "child_failed", message, attempts: 1, body };
}
