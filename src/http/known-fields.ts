import type * as z from "zod/mini";
import { suggestion } from "../machine/check/problems.ts";

type Schema = z.core.$ZodType;

/** Names that a schema's object knows at a path; none where it has no fixed names. */
export function knownAt(schema: Schema, path: readonly PropertyKey[]): string[] {
  let places = [schema];
  for (const step of path) places = places.flatMap((place) => below(place, step));
  return [...new Set(places.flatMap(namesOf))];
}

function namesOf(schema: Schema): string[] {
  return objectsOf(schema).flatMap(({ def }) =>
    def.type === "object" ? Object.keys((def as z.core.$ZodObjectDef).shape) : [],
  );
}

function below(schema: Schema, step: PropertyKey): Schema[] {
  return objectsOf(schema).flatMap(({ def }) => {
    if (def.type === "array") return [(def as z.core.$ZodArrayDef).element];
    const member = def.type === "object" && (def as z.core.$ZodObjectDef).shape[String(step)];
    return member ? [member] : [];
  });
}

/** What stands behind wrappers and choices. */
function objectsOf(schema: Schema): Schema["_zod"][] {
  const { def } = schema._zod;
  if (def.type === "union") return (def as z.core.$ZodUnionDef).options.flatMap(objectsOf);
  if (def.type === "pipe") {
    const { in: before, out } = def as z.core.$ZodPipeDef;
    return [before, out].flatMap(objectsOf);
  }
  if (def.type === "optional" || def.type === "nullable") {
    return objectsOf((def as z.core.$ZodOptionalDef).innerType);
  }
  return [schema._zod];
}

/** Members of a machine that show where one was sent without its wrapping. */
const MACHINE_MEMBERS = ["initial", "states", "on", "context", "type", "version"];

/** What to do about a name that is not known, beginning with a space; nothing where there is no telling. */
export function adviceFor(name: string, known: readonly string[]): string {
  const [, ref] = /^refs?[._:-](.+)$/is.exec(name) ?? [];
  if (ref !== undefined && known.includes("ref.<name>")) return ` Did you mean 'ref.${ref}'?`;
  // Of another choice.
  if (known.includes(name)) return " It does not go with the members that it stands beside.";
  const near = suggestion(name, known);
  if (near !== "") return near;
  if (known.includes("definition") && MACHINE_MEMBERS.includes(name)) {
    const id = known.includes("id") ? '"id": …, ' : "";
    return ` The machine itself goes into a member of its own; wrap it: {${id}"definition": {…}}.`;
  }
  if (known.includes("payload")) return " What belongs to the event goes into `payload`.";
  return "";
}
