import type { ActorRpc } from "./actor/rpc.ts";
import type { RegistryRpc } from "./registry/rpc.ts";

/** A namespace of Durable Objects by what is used of it: a fresh stub for a name. */
export interface Objects<Rpc> {
  getByName(name: string): Rpc;
}

export interface Env {
  /** One object per actor, named `tenant/actorId`. */
  ACTORS: Objects<ActorRpc>;
  /** One object per tenant, named by it: definitions and API keys. */
  REGISTRY: Objects<RegistryRpc>;
  /** `development` gives the key `dev`; anything else, or nothing, is production. */
  PERDURE_PROFILE?: string;
  /** Secret; the bootstrap admin key of production. */
  PERDURE_ADMIN_KEY?: string;
  /** `1` lets `POST …/clock/advance` move an actor's clock. */
  PERDURE_TEST_CLOCK?: string;
  /** Origins allowed by CORS, separated by commas, or `*`. Off when unset. */
  CORS_ORIGINS?: string;
}
