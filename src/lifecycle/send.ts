import type { Command } from "../machine/types.ts";
import type { Effects } from "./effects.ts";
import type { Envelope } from "./types.ts";

type Send = Pick<Extract<Command, { kind: "send_to" }>, "to" | "event">;

/** Asks for a message to another actor. A running invoke of `actor` stands for its children: each of them is sent it. */
export function askSend({ activities }: Envelope, { to, event }: Send, effects: Effects): void {
  const invoked = activities.findLast(
    ({ id, src, status }) => id === to && src === "actor" && status === "running",
  );
  const targets = invoked?.children?.map(({ id }) => id) ?? [to];
  for (const target of targets) {
    effects.ask({ kind: "send", ref: effects.nextRef(), to: target, event });
  }
}
