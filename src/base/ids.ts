import { isRef } from "./ref.ts";

/** Ids of actors, definitions, families. The registry and object names rely on "/" never being in one. */
export const ID_PATTERN = idPattern(200);
/** A tenant is named inside its API keys, between underscores. */
export const TENANT_PATTERN = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
export const DEFAULT_TENANT = "default";

const RESERVED_ACTOR_IDS = new Set([".", "..", "count", "bulk"]);

/** Ids of at most `most` characters. */
export function idPattern(most: number): RegExp {
  return new RegExp(`^[A-Za-z0-9._:-]{1,${most}}$`);
}

/** Whether a caller may name an actor so: `.`, `..`, `count`, `bulk` and what begins with `ref:` have other meanings in a path. */
export function isActorId(id: string): boolean {
  return ID_PATTERN.test(id) && !RESERVED_ACTOR_IDS.has(id) && !isRef(id);
}

/** The Durable Object name of one shard of a tenant's directory, or of its references. */
export function shardName(tenant: string, number: number): string {
  return `${tenant}/${number}`;
}

export function shardNames(tenant: string, count: number): string[] {
  return Array.from({ length: count }, (_, number) => shardName(tenant, number));
}

/** The Durable Object name of an actor: "/" may be in neither part, so tenants never meet. */
export function actorObjectName(tenant: string, actorId: string): string {
  return `${tenant}/${actorId}`;
}
