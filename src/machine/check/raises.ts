import { isJsonObject } from "../../base/json.ts";
import type { JsonValue } from "../../base/json.ts";
import { listed, own } from "../dialect.ts";

export interface Raise {
  /** The event's type. */
  type: string;
  delayed: boolean;
}

/** What the built-in raises among some actions send to the machine itself. */
export function raisesIn(actions: JsonValue | undefined): Raise[] {
  return listed(actions, "").flatMap(({ value }) => {
    if (!isJsonObject(value) || own(value, "type") !== "@xstate.raise") return [];
    const event = own(value, "event");
    const type = isJsonObject(event) ? own(event, "type") : undefined;
    return typeof type === "string" ? [{ type, delayed: own(value, "delay") !== undefined }] : [];
  });
}

/** Whether some actions set the context for certain: XState takes that for a change, whatever is set. */
export function assignsIn(actions: JsonValue | undefined): boolean {
  return listed(actions, "").some(
    ({ value }) => isJsonObject(value) && own(value, "type") === "@xstate.assign",
  );
}
