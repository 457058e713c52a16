import { RESERVED_DATA_KEY, isJsonObject } from "../../base/json.ts";
import type { JsonObject } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import { at } from "../../base/pointer.ts";
import { implementations } from "../../implementations/index.ts";
import type { CompiledMachine } from "../compile.ts";
import { stepsOf } from "../context-mapping.ts";
import { isExpression } from "../dialect.ts";
import type { Check } from "./context.ts";
import { Problems, quoted } from "./problems.ts";
import { checkTemplate } from "./templates.ts";
import { readTree } from "./tree.ts";

/** What is laid over the context, and where. */
export function checkContextMapping(
  to: CompiledMachine,
  mapping: JsonObject,
  problems: Problems<string>,
): void {
  if (isExpression(mapping)) {
    problems.add(
      "/contextMapping",
      "invalid_value",
      'Write the values by their paths in the context: {"total": {"@expr": "context.net + context.tax"}}.',
    );
    return;
  }
  const tree = readTree(to.definition, new Problems());
  if (tree === null) return;
  const check: Check = {
    errors: problems,
    warnings: new Problems(),
    implementations,
    tree,
    delays: new Set(),
    expressions: new Map(),
    eventTypes: new Map(),
  };
  for (const [path, value] of Object.entries(mapping)) {
    const pointer = at("/contextMapping", path);
    checkPath(mapping, path, pointer, problems);
    checkTemplate(check, value, pointer);
  }
}

function checkPath(
  mapping: JsonObject,
  path: string,
  pointer: string,
  problems: Problems<string>,
): void {
  const steps = stepsOf(path);
  const reserved = steps.find((step) => step === "__proto__" || step === RESERVED_DATA_KEY);
  if (steps.includes("")) {
    problems.add(
      pointer,
      "invalid_path",
      'A path is keys of the context joined by dots, none of them empty: "customer.name".',
    );
  } else if (reserved !== undefined) {
    problems.add(pointer, "reserved_key", `A context cannot be given the key '${reserved}'.`);
  } else if (steps.length > LIMITS.jsonDepth) {
    problems.add(
      pointer,
      "too_deep",
      `A path has at most ${LIMITS.jsonDepth} steps (limit jsonDepth).`,
    );
  } else {
    const above = steps
      .map((_, count) => steps.slice(0, count).join("."))
      .find((one) => one !== "" && Object.hasOwn(mapping, one) && !isJsonObject(mapping[one]));
    if (above === undefined) return;
    problems.add(
      pointer,
      "invalid_path",
      () => `${quoted(above)} is set to what is no object, so nothing can be set in it.`,
    );
  }
}
