import type { Problem } from "../../base/errors.ts";
import { RESERVED_DATA_KEY, bytesOver, canonicalJson } from "../../base/json.ts";
import { dataFault, isJsonObject } from "../../base/json.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { LIMITS } from "../../base/limits.ts";
import type { CompiledMachine } from "../compile.ts";
import { checkContextMapping } from "./context-mapping.ts";
import { Problems } from "./problems.ts";
import { checkStateMapping } from "./state-mapping.ts";

/**
 * Everything wrong with how actors of one definition would be carried over to another, LIMITS.problemsPerAnswer at most.
 * Never throws, whatever JSON it is given. What depends on where an actor stands is not wrong: `unlandedStates`.
 */
export function checkMapping(
  from: CompiledMachine,
  to: CompiledMachine,
  stateMapping: JsonValue,
  contextMapping: JsonValue,
): Problem[] {
  const problems = new Problems<string>();
  for (const [pointer, data] of [
    ["/stateMapping", stateMapping],
    ["/contextMapping", contextMapping],
  ] as const) {
    if (!isJsonObject(data)) {
      problems.add(pointer, "not_an_object", "A mapping is an object by paths.");
    } else if (dataFault(data, LIMITS.jsonDepth) !== null) {
      problems.add(
        pointer,
        "not_data",
        `A mapping is JSON of at most ${LIMITS.jsonDepth} levels, well-formed, without the key '${RESERVED_DATA_KEY}'.`,
      );
    }
  }
  if (!problems.none) return problems.list();
  const text = canonicalJson({ stateMapping, contextMapping });
  const bytes = bytesOver(LIMITS.mappingBytes, text);
  if (bytes > LIMITS.mappingBytes) {
    problems.add(
      "",
      "too_large",
      `The mappings have ${bytes} bytes of JSON; the limit mappingBytes is ${LIMITS.mappingBytes}.`,
    );
    return problems.list();
  }
  checkStateMapping(from, to, stateMapping as JsonObject, problems);
  checkContextMapping(to, contextMapping as JsonObject, problems);
  return problems.list();
}
