import { ID_PATTERN, isActorId } from "../base/ids.ts";
import { isJsonObject } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { anything, flag, list, map, object, oneOf, parse, satisfies, text } from "./shape.ts";
import type { Parsed, Shape } from "./shape.ts";

/** Children to spawn and to wait for. */
export interface ActorRequest {
  /** A definition, or a family: its newest root. */
  definitionId: string;
  /** Null: derived from the parent's incarnation and the activity's ref. */
  id: string | null;
  /** One input per child; its length is how many there are. undefined: none. */
  inputs: readonly (JsonValue | undefined)[];
  /** Whether it was a list: then the output is one too, and a child's id ends with its index. */
  isList: boolean;
  context: JsonObject | undefined;
  refs: { readonly [name: string]: string };
  /** They outlive the state that started them. */
  detach: boolean;
  /** What the first child that fails does: end all, or leave its error in its place. */
  failures: "stop" | "collect";
}

const definitionId = satisfies(
  (value) => typeof value === "string" && ID_PATTERN.test(value),
  "A definition's id has 1 to 200 of the characters A–Z a–z 0–9 . _ : -",
);

const actorId = satisfies(
  (value) => typeof value === "string" && isActorId(value),
  "An actor's id has 1 to 200 of the characters A–Z a–z 0–9 . _ : - and has no other meaning in a path, as `count` has.",
);

const context = satisfies(isJsonObject, "This is an object of values by their keys.");

const refName: Shape = (name, pointer, reader) => {
  text(LIMITS.refNameChars)(name, pointer, reader);
  if (name !== "__proto__") return;
  reader.faults.push({ pointer, message: "No ref can have the name `__proto__`." });
};

const notBoth: Shape = (input, pointer, reader) => {
  if (!isJsonObject(input) || input["forEach"] === undefined || input["input"] === undefined) {
    return;
  }
  reader.faults.push({
    pointer,
    message: "The entries of `forEach` are the children's inputs: leave `input` out.",
  });
};

export const ACTOR_INPUT: Shape = object(
  {
    required: { definitionId },
    optional: {
      id: actorId,
      input: anything,
      context,
      refs: map(refName, text(LIMITS.refValueChars), LIMITS.refsPerActor),
      detach: flag,
      forEach: list(anything, LIMITS.childrenPerActivity),
      failures: oneOf("stop", "collect"),
    },
  },
  "The input of `actor`",
  notBoth,
);

export function parseActorInput(input: JsonValue): Parsed<ActorRequest> {
  return parse(ACTOR_INPUT, input, (value) => {
    const { id = null, refs = {}, detach = false, failures = "stop" } = value;
    const forEach = value["forEach"] as readonly JsonValue[] | undefined;
    return {
      definitionId: value["definitionId"],
      id,
      inputs: forEach ?? [value["input"]],
      isList: forEach !== undefined,
      context: value["context"],
      refs,
      detach,
      failures,
    } as ActorRequest;
  });
}
