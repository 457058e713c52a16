import type { JsonValue } from "../base/json.ts";
import type { CompiledMachine } from "./compile.ts";
import { LOG, SEND, SET_REF, START, STOP } from "./emitted.ts";
import { pathOf } from "./engine-types.ts";
import type { Evaluation } from "./evaluation.ts";
import type { Command, EventData } from "./types.ts";

type Start = Extract<Command, { kind: "start_activity" }>;
type Stop = Extract<Command, { kind: "stop_activity" }>;
type Send = Extract<Command, { kind: "send_to" }>;

/** Event types of XState's own making contain ids of machine and states; ours contain paths. */
export function nameOf(machine: CompiledMachine, type: string): string {
  const after = machine.afterByEvent.get(type);
  if (after) return `@timer:${after.state}:${after.delay}`;
  const ended = /^xstate\.(done|error)\.actor\.(.*)$/s.exec(type);
  if (ended) return `@${ended[1]}:${ended[2]}`;
  const done = "xstate.done.state.";
  if (!type.startsWith(done)) return type;
  const node = machine.xstate.getStateNodeById(`#${type.slice(done.length)}`);
  return `@done.state:${pathOf(node)}`;
}

/** What XState wants executed, as commands; what it has already done itself is left out. */
export function commandsOf(machine: CompiledMachine, evaluation: Evaluation): Command[] {
  const commands: Command[] = [];
  for (const { type, params = {} } of evaluation.executables) {
    if (type === "xstate.raise") {
      const event = params["event"] as EventData;
      // Without a delay it has already been processed inside the macrostep.
      if (typeof params["delay"] !== "number") continue;
      const delayMs = params["delay"];
      const after = machine.afterByEvent.get(event.type);
      if (after) commands.push({ kind: "arm_after", ...after, delayMs });
      else {
        const sendId = typeof params["id"] === "string" ? params["id"] : null;
        commands.push({ kind: "arm_raise", event, sendId, delayMs });
      }
    } else if (type === "xstate.cancel") {
      const sendId = String(params["sendId"]);
      const after = machine.afterByEvent.get(sendId);
      commands.push(after ? { kind: "cancel_after", ...after } : { kind: "cancel_raise", sendId });
    } else if (type === "xstate.emit") {
      const event = params["event"] as EventData;
      if (event.type === LOG) evaluation.note("logs", event["args"] as JsonValue);
      else if (event.type === SET_REF) {
        const { name, value } = event as { name: string; value: string | null } & EventData;
        commands.push({ kind: "set_ref", name, value });
      } else if (event.type === START) {
        const { state, id, src, input } = event as unknown as Start;
        commands.push({ kind: "start_activity", state, id, src, input });
      } else if (event.type === STOP) {
        const { state, id } = event as unknown as Stop;
        commands.push({ kind: "stop_activity", state, id });
      } else if (event.type === SEND) {
        const { to, event: sent, delayMs, sendId } = event as unknown as Send;
        commands.push({ kind: "send_to", to, event: sent, delayMs, sendId });
      } else commands.push({ kind: "emit", event });
    } else {
      throw new Error(`XState asked for the action '${type}', which no definition can contain.`);
    }
  }
  return commands;
}
