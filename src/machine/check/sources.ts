import { BUILT_IN_SOURCES, isBuiltInSource } from "../../activities/types.ts";
import type { JsonValue } from "../../base/json.ts";
import type { Check } from "./context.ts";
import { quoted, suggestion } from "./problems.ts";

/** The name of what an activity runs. */
export function checkSource(check: Check, src: JsonValue, pointer: string): void {
  if (typeof src !== "string" || src === "") {
    check.errors.add(pointer, "invalid_value", "`src` is the name of a source, a string.");
    return;
  }
  const { sources } = check.implementations;
  if (isBuiltInSource(src) || Object.hasOwn(sources, src)) return;
  check.errors.add(pointer, "unknown_source", () => {
    const near = suggestion(src, [...BUILT_IN_SOURCES, ...Object.keys(sources)]);
    return `No source is named ${quoted(src)}.${near} There are ${BUILT_IN_SOURCES.join(", ")}; write one of your own in \`sources\` of src/implementations/index.ts.`;
  });
}
