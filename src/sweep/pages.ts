import { shardName } from "../base/ids.ts";
import { LIMITS } from "../base/limits.ts";
import { othersTurn } from "../base/pause.ts";
import { within } from "../base/within.ts";
import { askShard } from "../directory/ask.ts";
import type { Selected } from "../directory/rpc.ts";
import type { Env } from "../env.ts";
import type { SweepOrder } from "../registry/rpc.ts";
import type { Place } from "./course.ts";

/** Candidates behind a place, in the order of ids. */
export interface CandidatePage {
  items: Selected[];
  /** Entries that it went over. */
  looked: number;
  next: string | null;
}

/** Pages of candidates. One is fetched ahead while the actors of another are asked; more are never held. */
export class Ahead {
  readonly #env: Env;
  #held: { key: string; page: Promise<CandidatePage> } | null = null;

  constructor(env: Env) {
    this.#env = env;
  }

  /** Begins to fetch a page that `take` will want. */
  fetch(tenant: string, order: SweepOrder, place: Place): void {
    const page = readPage(this.#env, tenant, order, place);
    // Whoever takes it learns that it failed.
    page.catch(() => {});
    this.#held = { key: keyOf(order, place), page };
  }

  take(tenant: string, order: SweepOrder, place: Place): Promise<CandidatePage> {
    const held = this.#held;
    this.#held = null;
    if (held?.key === keyOf(order, place)) return held.page;
    return readPage(this.#env, tenant, order, place);
  }

  forget(): void {
    this.#held = null;
  }
}

/** A page that was asked for in another epoch, with other words, is not the same. */
function keyOf({ epoch }: SweepOrder, place: Place): string {
  return JSON.stringify([epoch, place.stage, place.shard, place.after]);
}

/** A page of a shard, asked for now. */
export async function readPage(
  env: Env,
  tenant: string,
  { query }: SweepOrder,
  { stage, shard, after }: Place,
): Promise<CandidatePage> {
  const limit = LIMITS.sweepPage;
  await othersTurn();
  const call = askShard(env, shardName(tenant, shard), (one) =>
    one.candidates({ ...query, stage, after, limit }),
  );
  return await within(LIMITS.sweepCallMs, call);
}
