import { refuse } from "../base/errors.ts";
import type { Refused } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { refuseLimit } from "../base/over-limit.ts";
import { sha256Hex } from "../base/sha256.ts";
import { canonicalDefinition } from "../machine/canonical.ts";
import { checkDefinition } from "../machine/check.ts";
import type { CheckReport } from "../machine/types.ts";
import { ruleInput } from "./rule-draft.ts";
import type { DeployCommand, RuleInput } from "./rpc.ts";

const encoder = new TextEncoder();

/** A definition that is to be deployed. */
export interface Incoming extends Omit<DeployCommand, "rule" | "confirmToken" | "lease"> {
  rule: RuleInput | null;
  /** Canonical. */
  json: string;
  hash: string;
  /** Looked at once, and only where it comes to that. */
  report(): CheckReport;
}

export async function readIncoming(
  command: Pick<DeployCommand, "id" | "definition" | "parentId" | "rule" | "replaceable">,
): Promise<{ ok: true; incoming: Incoming } | Refused> {
  const { id, definition, parentId, rule = null, replaceable } = command;
  if (rule !== null && parentId === null) {
    return refuse("invalid_request", "A migration needs a parentId to move actors from.", {
      errors: [{ pointer: "/parentId", code: "required", message: "is required" }],
    });
  }
  const json = canonicalDefinition(definition);
  const bytes = encoder.encode(json).byteLength;
  if (bytes > LIMITS.definitionBytes) {
    return refuseLimit(
      "definitionBytes",
      `A definition has at most ${LIMITS.definitionBytes} bytes of canonical JSON; this one has ${bytes}.`,
    );
  }
  const hash = await sha256Hex(json);
  let report: CheckReport | null = null;
  const incoming: Incoming = {
    id,
    definition,
    parentId,
    rule: rule && ruleInput(rule),
    replaceable,
    json,
    hash,
    report: () => (report ??= checkDefinition(definition)),
  };
  return { ok: true, incoming };
}
