import { PerdureError } from "../base/errors.ts";
import { bodyOf as bodyOfRule, draftOf } from "./create-rule.ts";
import { offerOf } from "./confirm.ts";
import type { Registry } from "./context.ts";
import { bodyOf as bodyOfDeploy, judge } from "./deploy.ts";
import { readIncoming } from "./incoming.ts";
import { vacantPosition } from "./meet.ts";
import { emptyPlan, planRule } from "./plan.ts";
import type { Planned } from "./plan.ts";
import { doubtsOf } from "./rule-check.ts";
import type { Draft } from "./rule-draft.ts";
import type { JsonValue } from "../base/json.ts";
import { answer } from "../base/reply.ts";
import type { Reply } from "../base/reply.ts";
import type { PreviewCommand } from "./rpc.ts";
import type { Standing } from "./standing.ts";

/** What a deploy or a rule would do, decided by the very rule that is proposed; refused where that would be. */
export async function preview(
  registry: Registry,
  command: PreviewCommand,
  replaceable: boolean,
  count: (id: string) => Promise<Standing | null>,
): Promise<Reply> {
  if (!("definition" in command)) {
    const drafted = draftOf(registry.stored(), command);
    if (!drafted.ok) return drafted;
    return await previewed(registry, command, drafted.draft, command.from, bodyOfRule(command));
  }
  const read = await readIncoming({ ...command, replaceable });
  if (!read.ok) return read;
  const { incoming } = read;
  const { id, parentId } = incoming;
  const free = await vacantPosition(registry.stored(), incoming, () => count(id));
  const verdict = judge(registry.stored(), incoming, free);
  if (verdict.ok === false) return verdict;
  return await previewed(registry, command, verdict.draft, parentId ?? id, bodyOfDeploy(incoming));
}

async function previewed(
  registry: Registry,
  { replay }: Pick<PreviewCommand, "replay">,
  draft: Draft | null,
  from: string,
  body: JsonValue,
): Promise<Reply> {
  const now = Date.now();
  const planned: Planned | null =
    draft === null ? emptyPlan(from, now) : await planRule(registry, draft, replay, now);
  if (planned === null) {
    throw new PerdureError(
      "not_configured",
      "This server keeps no directory of actors (PERDURE_DIRECTORY=off), so nobody can say what a rule would do. It can be deployed all the same.",
    );
  }
  const warnings = draft === null ? [] : doubtsOf(registry.stored(), draft);
  return answer(200, {
    ...(await offerOf(registry, planned, body)),
    warnings: warnings as unknown as JsonValue,
    replaySample: planned.replaySample,
  });
}
