import { inputShape } from "../../activities/inputs.ts";
import { faultsOf } from "../../activities/shape.ts";
import { BUILT_IN_SOURCES, isBuiltInSource } from "../../activities/types.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { at } from "../../base/pointer.ts";
import { isExpression, own } from "../dialect.ts";
import type { Check } from "./context.ts";
import { quoted, suggestion } from "./problems.ts";
import { checkTemplate } from "./templates.ts";

/** `src` and `input` of an activity. `refused`: sources that cannot stand here, each with the reason. */
export function checkActivity(
  check: Check,
  config: JsonObject,
  pointer: string,
  refused: Readonly<Record<string, string>> = {},
): void {
  const { errors } = check;
  const src = own(config, "src");
  const input = own(config, "input");
  const place = at(pointer, "input");
  if (input !== undefined) checkTemplate(check, input, place);
  if (src === undefined) return;
  if (!isSource(check, src, at(pointer, "src"))) return;
  if (Object.hasOwn(refused, src)) {
    errors.add(at(pointer, "src"), "invalid_value", refused[src] as string);
    return;
  }
  for (const fault of faultsOf(inputShape(src), input ?? null, isExpression)) {
    const where = input === undefined ? pointer : `${place}${fault.pointer}`;
    errors.add(where, "invalid_input", fault.message);
  }
}

/** Whether it names something that an activity can run. */
function isSource(check: Check, src: JsonValue, pointer: string): src is string {
  if (typeof src !== "string" || src === "") {
    check.errors.add(pointer, "invalid_value", "`src` is the name of a source, a string.");
    return false;
  }
  const { sources } = check.implementations;
  if (isBuiltInSource(src) || Object.hasOwn(sources, src)) return true;
  check.errors.add(pointer, "unknown_source", () => {
    const near = suggestion(src, [...BUILT_IN_SOURCES, ...Object.keys(sources)]);
    return `No source is named ${quoted(src)}.${near} There are ${BUILT_IN_SOURCES.join(", ")}; write one of your own in \`sources\` of src/implementations/index.ts.`;
  });
  return false;
}
