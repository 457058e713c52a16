import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/base/json.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { wake } from "../../src/lifecycle/actor.ts";
import { advance } from "../../src/lifecycle/advance.ts";
import { decodeEnvelope, encodeEnvelope, envelopesDiffer } from "../../src/lifecycle/envelope.ts";
import { NO_ORIGIN } from "../../src/lifecycle/input.ts";
import { decodeRecord, recordView } from "../../src/lifecycle/record.ts";
import { Replay } from "../../src/lifecycle/replay.ts";
import { ENVELOPE_FORMAT } from "../../src/lifecycle/types.ts";
import type { Envelope, LogRecord } from "../../src/lifecycle/types.ts";
import { actorView } from "../../src/lifecycle/view.ts";
import { compileDefinition } from "../../src/machine/compile.ts";

interface Golden {
  definition: JsonObject;
  /** Further definitions that it came to, by hash. */
  others?: { [hash: string]: JsonObject };
  envelope: JsonObject;
  log: (Pick<LogRecord, "seq" | "at" | "kind" | "key" | "request"> & { body: string })[];
}

const ROOT = new URL("../golden/", import.meta.url);
const formats = readdirSync(ROOT).filter((name) => name.startsWith("format-"));
const files = formats.flatMap((format) =>
  readdirSync(new URL(`${format}/`, ROOT)).map((name) => `${format}/${name}`),
);

function golden(file: string): Golden {
  return JSON.parse(readFileSync(new URL(file, ROOT), "utf8")) as Golden;
}

test("every format that was ever written has lives kept of it", () => {
  expect(formats.toSorted()).toEqual(
    Array.from({ length: ENVELOPE_FORMAT }, (_, index) => `format-${index + 1}`),
  );
  expect(files.length).toBeGreaterThanOrEqual(3 * ENVELOPE_FORMAT);
});

describe.each(files)("a life kept in %s", (file) => {
  const { definition, others = {}, envelope, log } = golden(file);
  const machineOf = (hash: string) => compileDefinition(others[hash] ?? definition);
  const machine = machineOf(envelope["definitionHash"] as string);
  const records = log.map(({ body, ...columns }) => decodeRecord(columns, body));

  test("is read, shown and lived on", () => {
    const actor = wake(decodeEnvelope(JSON.stringify(envelope)), machine);
    expect(actorView(actor, actor.envelope.at)).toMatchObject({ id: "golden-1", seq: log.length });
    for (const record of records) expect(recordView(record).seq).toBe(record.seq);
    if (actor.envelope.status !== "active") return;
    const input = { kind: "event", type: "BACK", payload: null } as const;
    const outcome = advance(actor, input, actor.envelope.at, NO_ORIGIN);
    expect(outcome).toMatchObject({ ok: true, record: { handled: true, seq: log.length + 1 } });
  });

  test("replays to the very same snapshot", () => {
    const address = { tenant: "default", id: "golden-1" };
    const replay = new Replay(address, machine, { machineOf });
    expect(replay.run(records)).toBeNull();
    const stored = decodeEnvelope(JSON.stringify(envelope));
    const replayed = replay.actor?.envelope as Envelope;
    if (envelope["format"] === ENVELOPE_FORMAT) {
      expect(canonicalJson(replayed as never)).toBe(canonicalJson(stored as never));
    }
    expect(envelopesDiffer(stored, replayed)).toBeNull();
    expect(envelopesDiffer(stored, { ...replayed, generations: 99 })).not.toBeNull();
  });
});

test("an envelope is written as it was read", () => {
  const { envelope } = golden(`format-${ENVELOPE_FORMAT}/alive.json`);
  const text = JSON.stringify(envelope);
  expect(JSON.parse(encodeEnvelope(decodeEnvelope(text)))).toEqual(envelope);
});

test("a format from the future is refused with both numbers", () => {
  const { envelope } = golden(`format-${ENVELOPE_FORMAT}/alive.json`);
  const future = JSON.stringify({ ...envelope, format: ENVELOPE_FORMAT + 1 });
  expect(() => decodeEnvelope(future)).toThrow(
    new RegExp(`format ${ENVELOPE_FORMAT + 1}.*up to ${ENVELOPE_FORMAT}`),
  );
});
