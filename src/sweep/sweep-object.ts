import { DurableObject } from "cloudflare:workers";
import { refuse } from "../base/errors.ts";
import type { Env } from "../env.ts";
import type { SweepRpc } from "./rpc.ts";

const LATER = refuse("not_yet", "Sweeps are not built yet.");

/** The sweep of one migration rule. It only wires: each verb has a file of its own. */
export class SweepObject extends DurableObject<Env> implements SweepRpc {
  poke() {
    return Promise.resolve(LATER);
  }

  progress() {
    return Promise.resolve(LATER);
  }

  failures() {
    return Promise.resolve(LATER);
  }
}
