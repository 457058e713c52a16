import type { Problem } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { checkMapping } from "../machine/check/mapping.ts";
import { unlandedStates } from "../machine/check/state-mapping.ts";
import { quoted, suggestion } from "../machine/check/problems.ts";
import { parsePattern } from "../migration/pattern.ts";
import type { Db } from "../storage/db.ts";
import { alphabetOf } from "./alphabet.ts";
import { machineOf } from "./definition-cache.ts";
import type { Draft } from "./rule-draft.ts";

type Checked = Pick<Draft, "from" | "to" | "rule">;

/** Everything wrong with what a rule says, at once; pointers lead into the body that it was sent in. */
export function problemsOf({ from, to, rule }: Checked): Problem[] {
  const pattern = parsePattern(rule);
  const mapping = checkMapping(
    machineOf(from),
    machineOf(to),
    rule.stateMapping as JsonValue,
    rule.contextMapping,
  );
  return [...(pattern.ok ? [] : pattern.problems), ...mapping].slice(0, LIMITS.problemsPerAnswer);
}

/** What is doubtful about a rule that can be made. */
export function doubtsOf(db: Db | null, draft: Checked): Problem[] {
  return [...unknownNames(db, draft), ...homelessStates(draft)];
}

/** Names of the path that no actor's history can have. */
function unknownNames(db: Db | null, { from: { family }, rule: { historyPath } }: Checked) {
  const alphabet = alphabetOf(db, family);
  if (alphabet === null) return [];
  const known = new Set(alphabet);
  return historyPath.flatMap((written, index): Problem[] => {
    const name = written.replace(/^!/, "");
    if (known.has(name)) return [];
    const message = `No version of '${family}' before this one has a step ${quoted(name)}.${suggestion(name, known)}`;
    return [{ pointer: `/historyPath/${index}`, code: "unknown_step", message }];
  });
}

const NAMED = 10;

function homelessStates({ from, to, rule: { stateMapping } }: Checked): Problem[] {
  const states = unlandedStates(machineOf(from), machineOf(to), stateMapping);
  if (states.length === 0) return [];
  const more = states.length > NAMED ? ` and ${states.length - NAMED} more` : "";
  const message = `Actors that stand in ${states.slice(0, NAMED).map(quoted).join(", ")}${more} cannot be moved: the new version has no such place to stand in. Map these states if any actor that matches may be there.`;
  return [{ pointer: "/stateMapping", code: "unmapped_state", message }];
}
