import type { Command } from "../machine/types.ts";
import type { Effects } from "./effects.ts";
import type { Envelope } from "./types.ts";

type Send = Pick<Extract<Command, { kind: "send_to" }>, "to" | "event">;

/**
 * Asks for a message to another actor. `#_parent` is whose child it is; a running invoke of `actor` stands for its
 * children: each of them is sent it.
 */
export function askSend(
  { activities, parent }: Envelope,
  { to, event }: Send,
  effects: Effects,
): void {
  if (to === "#_parent" && parent !== null) {
    effects.ask({ kind: "send", ref: effects.nextRef(), to: parent.id, event });
    return;
  }
  const invoked = activities.findLast(
    ({ id, src, status }) => id === to && src === "actor" && status === "running",
  );
  const targets = invoked?.children?.map(({ id }) => id) ?? [to];
  for (const target of targets) {
    effects.ask({ kind: "send", ref: effects.nextRef(), to: target, event });
  }
}
