import type { Wrapped } from "../../src/base/refused.ts";
import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { vi } from "vitest";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import { DirectoryObject } from "../../src/directory/directory-object.ts";
import type { Entry, Summary } from "../../src/directory/rpc.ts";
import { entryShard, shardCount } from "../../src/directory/shards.ts";
import { actorNow, objectOf, sqlIn } from "./actors.ts";
import { shardCalls, value } from "./directory.ts";

/** What happens to one put, or burial, on its way. */
export type Fault =
  /** The shard throws, and has written nothing. */
  | "lost before"
  /** The shard has written it, and the answer is lost. */
  | "lost after"
  /** The shard answers that it cannot. */
  | "refused"
  /** It arrives when the promise resolves; `taken` when the shard is through with it. */
  | { held: Promise<void>; arrived?: () => void; taken?: () => void };

export interface Watched {
  /** The puts that an actor sent, in order. */
  putsOf(actorId: string): Entry[];
  burialsOf(actorId: string): string[];
  /** What happens to the next puts and burials of an actor; then all is well. */
  plan: Map<string, Fault[]>;
}

/** Watches every call of actors to directory shards, and lets it fail as planned. */
export function watchDirectory(any: () => Fault | null = () => null): Watched {
  const puts: Entry[] = [];
  const burials: string[] = [];
  const plan: Watched["plan"] = new Map();
  for (const method of ["put", "bury"] as const) {
    const original = DirectoryObject.prototype[method] as (given: {
      id: string;
    }) => Promise<Wrapped<null>>;
    vi.spyOn(DirectoryObject.prototype, method).mockImplementation(async function (
      this: DirectoryObject,
      given: { id: string },
    ) {
      if (method === "put") puts.push(given as Entry);
      else burials.push(given.id);
      const fault = plan.get(given.id)?.shift() ?? any();
      if (fault === "lost before") throw new Error("injected: lost before");
      if (fault === "refused") {
        return { ok: false, failure: { code: "unavailable", detail: "injected: refused" } };
      }
      if (typeof fault === "object" && fault !== null) {
        fault.arrived?.();
        await fault.held;
      }
      const answer = await original.call(this, given);
      if (typeof fault === "object" && fault !== null) fault.taken?.();
      if (fault === "lost after") throw new Error("injected: lost after");
      return answer;
    } as never);
  }
  return {
    plan,
    putsOf: (actorId) => puts.filter(({ id }) => id === actorId),
    burialsOf: (actorId) => burials.filter((id) => id === actorId),
  };
}

export async function shardNameOf(actorId: string): Promise<string> {
  const count = (await shardCount(env, DEFAULT_TENANT, false)) as number;
  return entryShard(DEFAULT_TENANT, count, actorId);
}

/** The actor's entry as lists would show it, or null. */
export async function entryOf(actorId: string): Promise<Summary | null> {
  const shard = shardCalls(await shardNameOf(actorId));
  return value(await shard.pick({ ids: [actorId], filter: {} }))[0] ?? null;
}

type Comparable = Omit<Summary, "seq" | "updatedAt">;

/** What an entry must say of an actor; what only rides along, and what the time alone tells, left out. */
export function indexedIn(summary: Summary): Comparable {
  const { seq: _seq, updatedAt: _updatedAt, ...rest } = summary;
  const attention = rest.attention.filter((reason) => reason !== "timer_overdue");
  return { ...rest, attention };
}

/** The same of the actor itself, from what it stores and shows. */
export async function standingOf(actorId: string): Promise<Comparable> {
  const view = await actorNow(actorId);
  const [row] = await sqlIn<{ snapshot: string }>(actorId, "SELECT snapshot FROM actor");
  return standingIn(view, row!.snapshot);
}

// oxlint-disable-next-line typescript/no-explicit-any -- as the wire has it
export function standingIn(view: any, snapshot: string): Comparable {
  const { bornAt, timers, clockOffsetMs } = JSON.parse(snapshot);
  const reasons = (view.needsAttention as { reason: string }[]).map(({ reason }) => reason);
  const attention = [...new Set(reasons)].filter((reason) => reason !== "timer_overdue").toSorted();
  const due = view.status === "active" ? timers[0]?.dueAt : undefined;
  return {
    id: view.id,
    uid: view.uid,
    bornAt,
    definitionId: view.definitionId,
    family: view.family,
    status: view.status,
    stateValue: view.stateValue,
    tags: view.tags,
    attention: attention as Comparable["attention"],
    dueAt: due === undefined ? null : due - clockOffsetMs,
    refs: view.refs,
  };
}

/** Throws the object away as a crash would: whatever it was about to do is not done. */
export async function crash(actorId: string): Promise<void> {
  try {
    await runInDurableObject(objectOf(actorId), (_, state) => state.abort("injected: crash"));
  } catch {
    // The call itself dies with the object.
  }
}
