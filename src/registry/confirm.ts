import { refuse } from "../base/errors.ts";
import type { Refused } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { canonicalJson } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { sha256Hex } from "../base/sha256.ts";
import type { Db } from "../storage/db.ts";
import { isTokenUsed, useToken } from "../storage/registry-tokens.ts";
import { issueToken, readToken } from "./confirm-token.ts";
import type { Confirmation } from "./confirm-token.ts";
import type { Registry } from "./context.ts";
import { planView } from "./plan.ts";
import type { Planned } from "./plan.ts";
import { confirmSecret } from "./settings.ts";

/** A plan with the token that confirms it. */
export interface Offer {
  plan: JsonObject;
  /** The token that came with the request, where one was needed: it counts once. */
  use: Confirmation | null;
}

/** The plan as callers see it, with a token for `body`: canonical, without token and replay. */
export async function offerOf(
  registry: Registry,
  planned: Planned,
  body: JsonValue,
): Promise<JsonObject> {
  const secret = confirmSecret(registry.stored(), registry.open);
  const confirmToken = await issueToken(secret, {
    body: await sha256Hex(canonicalJson(body)),
    unmappable: planned.plan.unmappableTotal,
    expiresAt: planned.asOf + LIMITS.confirmTokenMs,
  });
  return { ...planView(planned), confirmToken };
}

/** Lets through what moves everybody, and what somebody has confirmed who knew about the others. */
export async function confirmed(
  registry: Registry,
  planned: Planned,
  body: JsonValue,
  token: string | null,
): Promise<({ ok: true } & Offer) | Refused> {
  const plan = await offerOf(registry, planned, body);
  if (planned.plan.unmappableTotal === 0) return { ok: true, plan, use: null };
  if (token === null) return unconfirmed(plan, null);
  const said = await readToken(confirmSecret(registry.stored(), registry.open), token);
  const reason =
    said === null
      ? "token_invalid"
      : objection(said, await sha256Hex(canonicalJson(body)), planned, registry.stored());
  return reason === null ? { ok: true, plan, use: said } : unconfirmed(plan, reason);
}

/** Notes that a token was used, or refuses it because it was. Inside the transaction of what it confirms. */
export function spend(db: Db, { plan, use }: Offer, now: number): Refused | null {
  if (use === null) return null;
  if (isTokenUsed(db, use.nonce)) return unconfirmed(plan, "token_used");
  useToken(db, use.nonce, use.expiresAt, now);
  return null;
}

const REASONS = {
  token_invalid: "The confirmToken is none of this tenant's, or mistyped.",
  token_of_another_body: "The confirmToken is of another body than this one.",
  token_expired: "The confirmToken has expired.",
  token_used: "The confirmToken was used before.",
  counts_worse: "More actors cannot be moved by now than when the confirmToken was made.",
} as const;

type Reason = keyof typeof REASONS;

function objection(
  said: Confirmation,
  body: string,
  { plan, asOf }: Planned,
  db: Db | null,
): Reason | null {
  if (said.body !== body) return "token_of_another_body";
  if (said.expiresAt <= asOf) return "token_expired";
  if (db && isTokenUsed(db, said.nonce)) return "token_used";
  const more = plan.unmappableTotal - said.unmappable;
  return more > Math.max(10, said.unmappable / 10) ? "counts_worse" : null;
}

function unconfirmed(plan: JsonObject, reason: Reason | null): Refused {
  const { unmappableTotal } = plan as { unmappableTotal: number };
  const who = unmappableTotal === 1 ? "1 actor matches" : `${unmappableTotal} actors match`;
  const why = reason === null ? "" : `${REASONS[reason]} `;
  return refuse(
    "migration_needs_confirmation",
    `${why}${who} and cannot be moved; plan.unmappable says why. Mend the mapping, or send the same body with plan.confirmToken. Nothing was stored.`,
    { extra: { plan, ...(reason === null ? {} : { reason }) } },
  );
}
