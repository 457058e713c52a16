import { PerdureError } from "../base/errors.ts";
import type { Refused } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { Lru } from "../base/lru.ts";
import { compileDefinition } from "../machine/compile.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import { given } from "../base/refused.ts";
import type { DefinitionSource } from "./definition-source.ts";
import type { ResolvedDefinition } from "./rpc.ts";

/** A definition that an actor stands on, ready to run. */
export interface AcquiredMachine extends Omit<ResolvedDefinition, "json"> {
  machine: CompiledMachine;
}

type Acquired = { ok: true; acquired: AcquiredMachine } | Refused;

// Shared by everything in the isolate, whatever its tenant: the same content is the same machine.
const machines = new Lru<CompiledMachine>({
  count: LIMITS.machinesCached,
  weight: LIMITS.machineBytesCached,
});

interface Leased {
  definition: Omit<ResolvedDefinition, "json">;
  /** ms; trusted until then. */
  until: number;
}

/**
 * Used definitions by tenant and id, trusted for a lease: afterwards one may have been retired, or replaced in
 * development. The registry's own isolate forgets at once.
 */
const used = new Lru<Leased>({ count: LIMITS.definitionIdsCached });

/** Grows when something is forgotten: what was asked for before is then not remembered. */
let forgotten = 0;

/** A definition was retired or replaced. */
export function forgetDefinition(tenant: string, id: string): void {
  forgotten += 1;
  used.delete(`${tenant}/${id}`);
}

function compile(hash: string, json: string): CompiledMachine {
  const present = machines.get(hash);
  if (present) return present;
  const machine = compileDefinition(JSON.parse(json) as JsonObject);
  machines.set(hash, machine, json.length);
  return machine;
}

/** The machine of content `hash`; asks the registry only when this isolate has not seen it. `id` is for the error. */
export async function getMachine(
  registry: DefinitionSource,
  hash: string,
  id: string,
): Promise<CompiledMachine> {
  const present = machines.get(hash);
  if (present) return present;
  const json = given(await registry.definitionByHash(hash));
  if (json === null) throw definitionUnavailable(id, "its content is missing in the registry");
  return machineOf({ id, hash, json });
}

/** The machine of a definition that is at hand. */
export function machineOf({
  id,
  hash,
  json,
}: Pick<ResolvedDefinition, "id" | "hash" | "json">): CompiledMachine {
  try {
    return compile(hash, json);
  } catch (error) {
    const unavailable = definitionUnavailable(id, "this version of the server cannot run it");
    unavailable.cause = error;
    throw unavailable;
  }
}

export function isDefinitionUnavailable(error: unknown): boolean {
  return (
    error instanceof PerdureError && error.failure.extra?.["reason"] === "definition_unavailable"
  );
}

/** Shards know it by its `reason` and list the actor as in need of attention. */
function definitionUnavailable(id: string, why: string): PerdureError {
  return new PerdureError(
    "unavailable",
    `The actor's definition '${id}' cannot be had: ${why}. The actor is unharmed and goes on when it can be.`,
    { extra: { reason: "definition_unavailable", definitionId: id } },
  );
}

/** The machine for a new actor, by a definition's id or a family; marks the definition as used. */
export async function acquireMachine(
  registry: DefinitionSource,
  tenant: string,
  name: string,
  now = Date.now(),
): Promise<Acquired> {
  const known = used.get(`${tenant}/${name}`);
  const machine = known && machines.get(known.definition.hash);
  if (known && machine && now < known.until) {
    return { ok: true, acquired: { ...known.definition, machine } };
  }

  const before = forgotten;
  const reply = await registry.acquire(name);
  if (!reply.ok) return reply;
  const { json, ...definition } = reply.definition;
  // A family leads to another definition after the next deploy, so only ids are remembered.
  if (definition.id === name && forgotten === before) {
    used.set(`${tenant}/${name}`, { definition, until: now + LIMITS.leaseMs });
  }
  return { ok: true, acquired: { ...definition, machine: compile(definition.hash, json) } };
}

/** The machine of a definition that nobody has to stand on, retired ones included; null when there is none. */
export async function resolveMachine(
  registry: DefinitionSource,
  id: string,
): Promise<AcquiredMachine | null> {
  const resolved = given(await registry.resolve(id));
  if (!resolved) return null;
  const { json, ...definition } = resolved;
  return { ...definition, machine: compile(definition.hash, json) };
}
