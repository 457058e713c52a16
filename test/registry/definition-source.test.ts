import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { Objects } from "../../src/base/call-object.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { definitionSource } from "../../src/registry/definition-source.ts";
import type { RegistryRpc } from "../../src/registry/rpc.ts";
import { fresh } from "../support/api.ts";

/** The registries, of which the first `lost` stubs are those of an object that went away. */
function registriesAfter(lost: number): { registries: Objects<RegistryRpc>; stubs: string[] } {
  const stubs: string[] = [];
  const gone = async () => {
    throw Object.assign(new Error("Network connection lost."), { retryable: true });
  };
  const broken = { acquire: gone, definitionByHash: gone, resolve: gone };
  const getByName = (name: string) => {
    stubs.push(name);
    return stubs.length <= lost ? (broken as unknown as RegistryRpc) : env.REGISTRY.getByName(name);
  };
  return { registries: { getByName }, stubs };
}

const questions = ["acquire", "definitionByHash", "resolve"] as const;

it.each(questions)("a registry that went away is asked again with a new stub: %s", async (ask) => {
  const tenant = fresh("tenant");
  const { registries, stubs } = registriesAfter(1);
  const expected = await env.REGISTRY.getByName(tenant)[ask]("nothing");
  expect(await definitionSource(registries, tenant)[ask]("nothing")).toEqual(expected);
  expect(stubs).toEqual([tenant, tenant]);
});

it.each(questions)("a registry that stays away is unavailable: %s", async (ask) => {
  const { registries, stubs } = registriesAfter(Infinity);
  const source = definitionSource(registries, fresh("tenant"));
  await expect(() => source[ask]("nothing")).rejects.toMatchObject({
    failure: { code: "unavailable" },
  });
  expect(stubs).toHaveLength(LIMITS.callAttempts);
});
