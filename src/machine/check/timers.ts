import { isJsonObject } from "../../base/json.ts";
import { at } from "../../base/pointer.ts";
import { own } from "../dialect.ts";
import type { Check } from "./context.ts";
import { described } from "./tree.ts";
import type { State } from "./tree.ts";

/** XState tells timers apart by `xstate.after.<delay>.<state id>`; dots in ids and names can make two of them one. */
export function checkTimerNames(check: Check): void {
  const owners = new Map<string, State>();
  for (const state of check.tree.all) {
    const after = own(state.config, "after");
    if (!isJsonObject(after)) continue;
    for (const delay of Object.keys(after)) {
      const name = `${delay}.${state.id}`;
      const owner = owners.get(name);
      if (owner === undefined) {
        owners.set(name, state);
        continue;
      }
      check.errors.add(
        at(at(state.pointer, "after"), delay),
        "ambiguous_timer",
        () =>
          `XState cannot tell this timer from one of ${described(owner)}; rename the delay or the \`id\`.`,
      );
    }
  }
}
