/**
 * Writes lives of actors in today's format to `test/golden/format-<n>/`, for tests of later versions to read.
 * A file that is there is never written again: what was released is what must stay readable.
 *
 *     node --import ./scripts/wasm-modules.ts scripts/write-golden.ts
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import type { JsonObject } from "../src/base/json.ts";
import type { Actor } from "../src/lifecycle/actor.ts";
import { advance } from "../src/lifecycle/advance.ts";
import { beginActor } from "../src/lifecycle/birth.ts";
import type { Advanced } from "../src/lifecycle/conclude.ts";
import { NO_ORIGIN } from "../src/lifecycle/input.ts";
import type { Birth, Origin } from "../src/lifecycle/input.ts";
import { encodeBody } from "../src/lifecycle/record.ts";
import { ENVELOPE_FORMAT } from "../src/lifecycle/types.ts";
import type { LogRecord } from "../src/lifecycle/types.ts";
import { compileDefinition } from "../src/machine/compile.ts";
import { HASH, LIVES, START } from "./golden-lives.ts";
import type { Life, MachineOf } from "./golden-lives.ts";

const ADDRESS = { tenant: "default", id: "golden-1" };

for (const life of LIVES) {
  const folder = new URL(`../test/golden/format-${ENVELOPE_FORMAT}/`, import.meta.url);
  const file = new URL(`${life.name}.json`, folder);
  if (existsSync(file)) continue;
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify(live(life), null, 2)}\n`);
}

function live({ definition, others, birth, inputs }: Life): JsonObject {
  const machine = compileDefinition(definition);
  const machineOf: MachineOf = (hash) =>
    hash === HASH.one ? machine : compileDefinition(others?.[hash] as JsonObject);
  const full: Birth = {
    uid: "0123456789abcdef".repeat(2),
    definitionId: `${machine.family}-v1`,
    definitionHash: HASH.one,
    ...birth,
  };
  const log: JsonObject[] = [];
  const records: LogRecord[] = [];
  const take = (outcome: Advanced): Actor => {
    if (!outcome.ok) throw new Error(outcome.fault.message);
    records.push(outcome.record);
    const { seq, at, kind, key, request } = outcome.record;
    log.push({ seq, at, kind, key, request, body: encodeBody(outcome.record) });
    return outcome.actor;
  };
  const keyed = (): Origin => ({
    key: `key-${log.length}`,
    request: "cd".repeat(32),
    by: null,
    principal: "dev",
  });
  let at = START;
  let actor = take(beginActor(ADDRESS, machine, full, at, keyed()));
  for (const input of inputs) {
    if (typeof input !== "number") {
      const given = typeof input === "function" ? input(machineOf, records) : input;
      actor = take(advance(actor, given, at, keyed()));
      continue;
    }
    at += input;
    for (let timer = actor.envelope.timers[0]; timer && timer.dueAt <= at;) {
      actor = take(advance(actor, { kind: "timer", timerId: timer.id }, at, NO_ORIGIN));
      timer = actor.envelope.timers[0];
    }
  }
  return {
    definition,
    ...(others && { others }),
    envelope: actor.envelope as unknown as JsonObject,
    log,
  };
}
