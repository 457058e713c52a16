import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { acquireMachine, getMachine, resolveMachine } from "../../src/registry/definition-cache.ts";
import { given } from "../../src/base/refused.ts";
import type { RegistryRpc } from "../../src/registry/rpc.ts";
import { doorMachine, fresh } from "../support/api.ts";
import { recorded } from "../support/registry.ts";

let tenant: string;
let registry: RegistryRpc;
let calls: string[];

beforeEach(async () => {
  tenant = fresh("tenant");
  ({ registry, calls } = recorded(env.REGISTRY.getByName(tenant)));
});

async function deploy(id: string, family: string, opened: number): Promise<void> {
  const definition = doorMachine(family, { context: { opened } }) as JsonObject;
  await registry.deploy({ id, definition, parentId: null, replaceable: false });
  calls.length = 0;
}

describe("the machines of an isolate", () => {
  it("are acquired without a call the second time", async () => {
    const family = fresh("door");
    await deploy(`${family}-v1`, family, 0);
    const first = await acquireMachine(registry, tenant, `${family}-v1`);
    const second = await acquireMachine(registry, tenant, `${family}-v1`);
    expect(calls).toEqual(["acquire"]);
    expect(second).toEqual(first);
    expect(first.ok && first.acquired.machine.family).toBe(family);
  });

  it("are asked for again when the lease is over", async () => {
    const family = fresh("door");
    const id = `${family}-v1`;
    await deploy(id, family, 0);
    const now = Date.now();
    await acquireMachine(registry, tenant, id, now);
    await acquireMachine(registry, tenant, id, now + LIMITS.leaseMs - 1);
    expect(calls).toEqual(["acquire"]);
    await acquireMachine(registry, tenant, id, now + LIMITS.leaseMs);
    await acquireMachine(registry, tenant, id, now + LIMITS.leaseMs + 1);
    expect(calls).toEqual(["acquire", "acquire"]);
  });

  it("are forgotten at once when their definition is retired or replaced", async () => {
    const family = fresh("door");
    const id = `${family}-v1`;
    await deploy(id, family, 0);
    await acquireMachine(registry, tenant, id);
    const definition = doorMachine(family, { context: { opened: 7 } }) as JsonObject;
    await registry.deploy({ id, definition, parentId: null, replaceable: true });
    const { acquired } = (await acquireMachine(registry, tenant, id)) as {
      acquired: { hash: string };
    };
    expect(acquired.hash).toBe(given(await registry.resolve(id))?.hash);
    await registry.retireDefinition(id);
    expect(await acquireMachine(registry, tenant, id)).toMatchObject({ ok: false });
  });

  it("are not remembered when they were forgotten while the answer was on its way", async () => {
    const family = fresh("door");
    const id = `${family}-v1`;
    await deploy(id, family, 0);
    const acquire = async (name: string) => {
      const reply = await registry.acquire(name);
      await registry.retireDefinition(name);
      return reply;
    };
    expect(await acquireMachine({ ...registry, acquire } as RegistryRpc, tenant, id)).toMatchObject(
      { ok: true },
    );
    expect(await acquireMachine(registry, tenant, id)).toMatchObject({ ok: false });
  });

  it("are found by content without a call once they are there", async () => {
    const family = fresh("door");
    await deploy(`${family}-v1`, family, 0);
    const { hash } = given(await registry.resolve(`${family}-v1`))!;
    calls.length = 0;
    const machine = await getMachine(registry, hash, `${family}-v1`);
    expect(await getMachine(registry, hash, `${family}-v1`)).toBe(machine);
    expect(calls).toEqual(["definitionByHash"]);
  });

  it("are asked for again by family, which may lead elsewhere", async () => {
    const family = fresh("door");
    await deploy(`${family}-v1`, family, 0);
    expect(await acquireMachine(registry, tenant, family)).toMatchObject({
      acquired: { id: `${family}-v1` },
    });
    await deploy(`${family}-v2`, family, 2);
    expect(await acquireMachine(registry, tenant, family)).toMatchObject({
      acquired: { id: `${family}-v2` },
    });
    expect(calls).toEqual(["acquire"]);
  });

  it("of one tenant are not found by another", async () => {
    const family = fresh("door");
    await deploy(`${family}-v1`, family, 0);
    await acquireMachine(registry, tenant, `${family}-v1`);
    const other = fresh("tenant");
    const elsewhere = env.REGISTRY.getByName(other);
    expect(await acquireMachine(elsewhere, other, `${family}-v1`)).toMatchObject({
      ok: false,
      failure: { code: "definition_not_found" },
    });
  });

  it("are resolved without being used", async () => {
    const family = fresh("door");
    await deploy(`${family}-v1`, family, 0);
    expect(await resolveMachine(registry, "nothing")).toBeNull();
    expect((await resolveMachine(registry, `${family}-v1`))?.machine.family).toBe(family);
    expect(await registry.retireDefinition(`${family}-v1`)).toMatchObject({ ok: true });
  });

  it("whose body is missing are an error, not a guess", async () => {
    const missing = "0".repeat(64);
    await expect(() => getMachine(registry, missing, "lost")).rejects.toThrow(/missing/);
  });
});
