import type { Env } from "../env.ts";
import type { Principal, RegistryRpc } from "../registry/rpc.ts";
import { callObject } from "../base/call-object.ts";

/** Calls the registry of the tenant that a request acts for. */
export function callRegistry<Result>(
  env: Env,
  principal: Principal,
  repeatable: boolean,
  method: (registry: RegistryRpc) => Promise<Result>,
): Promise<Result> {
  return callObject(env.REGISTRY, principal.tenant, repeatable, method);
}
