import { LIMITS } from "../base/limits.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { isFinished } from "../lifecycle/actor.ts";
import { activePaths, tagsOf } from "../machine/view.ts";
import type { WaitQuery } from "./rpc.ts";

type WaitReason = "matched" | "timeout" | "finished";
type Check = (actor: Actor | null) => WaitReason | null;

/** Callers that wait for a condition; each is told by the commit that fulfils it. Held in memory only: a caller whose object goes away asks again. */
export class Waiters {
  readonly #waiting = new Set<{ check: Check; tell: (reason: WaitReason) => void }>();

  get full(): boolean {
    return this.#waiting.size >= LIMITS.waitersPerActor;
  }

  notify(actor: Actor | null): void {
    for (const waiter of this.#waiting) {
      const reason = waiter.check(actor);
      if (reason !== null) waiter.tell(reason);
    }
  }

  async until(actor: Actor, condition: WaitQuery["until"], timeoutMs: number): Promise<WaitReason> {
    const check: Check = (present) => reasonNow(present, condition);
    const now = check(actor);
    if (now !== null) return now;
    const { promise, resolve } = Promise.withResolvers<WaitReason>();
    const waiter = { check, tell: resolve };
    this.#waiting.add(waiter);
    const timer = setTimeout(() => resolve("timeout"), timeoutMs);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(waiter);
    }
  }
}

function reasonNow(actor: Actor | null, condition: WaitQuery["until"]): WaitReason | null {
  if (actor === null) return "finished";
  if (isMet(actor, condition)) return "matched";
  return isFinished(actor.envelope) ? "finished" : null;
}

function isMet({ envelope, live }: Actor, condition: WaitQuery["until"]): boolean {
  if ("state" in condition) return activePaths(live).has(condition.state);
  if ("tag" in condition) return tagsOf(live).includes(condition.tag);
  if ("seq" in condition) return envelope.seq >= condition.seq;
  return envelope.status === "done";
}
