import { parseHttpInput } from "../activities/http-input.ts";
import { callHttp } from "../outbound/call-http.ts";
import { afterAttempt, invalidInput, keyOf } from "./attempt.ts";
import type { Start } from "./attempt.ts";
import type { Carried } from "./carriers.ts";
import type { OutboxItem } from "./outbox.ts";
import type { Resident } from "./resident.ts";

/** One attempt of an `http` activity. */
export async function callService(
  resident: Resident,
  item: OutboxItem,
  signal: AbortSignal,
): Promise<Carried> {
  const effect = item.effect as Start;
  const parsed = parseHttpInput(effect.input);
  if (!parsed.ok) return invalidInput(effect.ref, parsed.pointer, parsed.message);
  const key = keyOf(resident, effect);
  const called = await callHttp(parsed.value, key, resident.env, signal);
  return afterAttempt(resident, item, parsed.value.policy, called);
}
