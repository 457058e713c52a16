import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { acquireMachine, getMachine, resolveMachine } from "../../src/registry/definition-cache.ts";
import { given } from "../../src/registry/refused.ts";
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
    expect(await registry.retireDefinition(`${family}-v1`)).toMatchObject({ ok: false });
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
