import { isJsonObject } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { at } from "../base/pointer.ts";
import { evaluation } from "./evaluation.ts";
import { compileTemplate } from "./template.ts";

/** The old context → the new one, within an evaluation. What fails is told to the evaluation. */
type ContextMapping = (context: JsonObject) => JsonObject;

/** What expressions of a mapping see as `event`. */
const EVENT = { type: "xstate.migrate" };

/** Mappings never change, and all actors of a rule share one. */
const compiled = new WeakMap<JsonObject, ContextMapping>();

/** Steps of a path in the context. Keys with a dot in them cannot be reached. */
export function stepsOf(path: string): string[] {
  return path.split(".");
}

/** Compiles `{"a.b": <value with expressions>}`; throws on what `checkMapping` refuses. */
export function compileContextMapping(mapping: JsonObject): ContextMapping {
  const known = compiled.get(mapping);
  if (known !== undefined) return known;
  // Sorted, so that "a" is set before "a.b" in whatever order keys were stored.
  const entries = Object.keys(mapping)
    .sort()
    .map((path) => {
      const pointer = at("/contextMapping", path);
      const template = compileTemplate(mapping[path] as JsonValue, pointer);
      return { steps: stepsOf(path), pointer, template };
    });
  const run: ContextMapping = (context) => {
    const values = entries.map(({ template }) => template(context, EVENT));
    const overlay = new Overlay();
    let result: JsonValue = context;
    entries.forEach(({ steps, pointer }, index) => {
      result = overlay.set(result, steps, values[index] as JsonValue, pointer);
    });
    return result as JsonObject;
  };
  compiled.set(mapping, run);
  return run;
}

/** Lays values over data that others hold: each object is copied once, the first time that something below it is set. */
class Overlay {
  readonly #copies = new Set<JsonValue>();

  set(data: JsonValue, steps: readonly string[], value: JsonValue, pointer: string): JsonValue {
    const root = this.#copy(data, pointer);
    let object = root;
    for (const key of steps.slice(0, -1)) {
      const below = this.#copy(Object.hasOwn(object, key) ? object[key] : {}, pointer);
      define(object, key, below);
      object = below;
    }
    define(object, steps.at(-1) as string, value);
    return root;
  }

  #copy(data: JsonValue | undefined, pointer: string): Record<string, JsonValue> {
    if (!isJsonObject(data)) {
      return evaluation().fail({
        code: "expression_failed",
        message: "The path leads through something in the context that is no object.",
        pointer,
      });
    }
    if (this.#copies.has(data)) return data as Record<string, JsonValue>;
    evaluation().spend(1 + (Object.keys(data).length >> 3));
    const copy: Record<string, JsonValue> = { ...data };
    this.#copies.add(copy);
    return copy;
  }
}

/** A member whatever its name is: an assignment to `__proto__` would make none. */
function define(object: Record<string, JsonValue>, key: string, value: JsonValue): void {
  Object.defineProperty(object, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
