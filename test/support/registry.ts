import type { Reply } from "../../src/base/reply.ts";
import { env } from "cloudflare:workers";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import type { RegistryObject } from "../../src/registry/registry-object.ts";
import type { RegistryRpc } from "../../src/registry/rpc.ts";

/** A registry's stub as the test tools want it. */
export function registryObject(tenant: string): DurableObjectStub<RegistryObject> {
  const namespace = env.REGISTRY as unknown as DurableObjectNamespace<RegistryObject>;
  return namespace.getByName(tenant);
}

/** The body of an answer that has to be one. */
// oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects to be there
export function bodyOf(reply: Reply): any {
  if (!reply.ok) throw new Error(`Refused: ${JSON.stringify(reply.failure)}`);
  return reply.body;
}

/** The tenant of a registry that a spy on all of them has seen. */
export function tenantOf(registry: unknown): string | undefined {
  return (registry as { ctx: DurableObjectState }).ctx.id.name;
}

/** How often a method that is spied on was called of one tenant's registry: others share the process. */
export function callsOf(
  spy: { mock: { contexts: unknown[] } },
  tenant: string = DEFAULT_TENANT,
): number {
  return spy.mock.contexts.filter((registry) => tenantOf(registry) === tenant).length;
}

type Method = (...given: unknown[]) => unknown;

/** The same registry, with the names of its methods in the order they were called. */
export function recorded(registry: RegistryRpc): { registry: RegistryRpc; calls: string[] } {
  const calls: string[] = [];
  const proxy = new Proxy(registry, {
    get:
      (target, name) =>
      (...given: unknown[]) => {
        calls.push(String(name));
        // A stub's methods are only known to it by being called on it.
        return (target as unknown as Record<string | symbol, Method>)[name]?.(...given);
      },
  });
  return { registry: proxy, calls };
}
