import { emit } from "xstate";
import type { JsonObject } from "../base/json.ts";
import { dataOf } from "./evaluation.ts";
import type { ActionArgs, CompiledAction } from "./engine-types.ts";

export const SET_REF = "@perdure.setRef";
export const LOG = "@xstate.log";
export const START = "@perdure.start";
export const STOP = "@perdure.stop";
export const SEND = "@perdure.send";

/**
 * What XState has no action for travels through it as an emitted event of one of these types: it is resolved at its place
 * in the list, after the assigns before it.
 */
export function emitted(
  type: string,
  members: (context: JsonObject, event: unknown, args: ActionArgs) => JsonObject,
): CompiledAction {
  return emit(((args: ActionArgs) => ({
    type,
    ...members(dataOf(args.context), args.event, args),
  })) as never) as unknown as CompiledAction;
}
