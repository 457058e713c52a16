import { callObject } from "../base/call-object.ts";
import type { Objects } from "../base/call-object.ts";
import type { RegistryRpc } from "./rpc.ts";

/** What of a tenant's registry a machine is had from. */
export type DefinitionSource = Pick<RegistryRpc, "acquire" | "definitionByHash" | "resolve">;

/** A tenant's registry, called again where it went away under a call: asked twice, it does nothing twice. */
export function definitionSource(
  registries: Objects<RegistryRpc>,
  tenant: string,
): DefinitionSource {
  const ask = <Answer>(call: (registry: RegistryRpc) => Promise<Answer>) =>
    callObject(registries, tenant, true, call);
  return {
    acquire: (name) => ask((registry) => registry.acquire(name)),
    definitionByHash: (hash) => ask((registry) => registry.definitionByHash(hash)),
    resolve: (id) => ask((registry) => registry.resolve(id)),
  };
}
