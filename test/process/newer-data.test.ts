import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it } from "vitest";
import { ask } from "../../scripts/old-data/exchange.ts";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { STEPS, open } from "./old-data/opened.ts";
import type { Opened } from "./old-data/opened.ts";

const NEWER = 77;
/** Where each class keeps its number. */
const SCHEMA = "UPDATE schema SET version = 77";
const CLASSES = {
  ActorObject: "UPDATE actor SET schema = 77",
  DirectoryObject: SCHEMA,
  RefsObject: SCHEMA,
  BulkObject: SCHEMA,
  CronObject: SCHEMA,
  WebhookObject: "UPDATE webhook SET schema = 77",
  SweepObject: SCHEMA,
  QueueObject: "UPDATE queue SET schema = 77",
};
const FORMAT = `UPDATE actor SET snapshot = json_set(snapshot, '$.format', ${NEWER})`;

let opened: Opened | undefined;
let server: RunningServer | undefined;
afterEach(async () => {
  await server?.kill();
  opened?.remove();
});

/** Files of a class's objects. */
function filesOf(data: string, className: string): string[] {
  const { uniqueKeys } = JSON.parse(readFileSync(join(data, "store.json"), "utf8")) as {
    uniqueKeys: { [className: string]: string };
  };
  const folder = join(data, "objects", uniqueKeys[className]!);
  const names = readdirSync(folder).filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name));
  return names.map((name) => join(folder, name));
}

function inEach(data: string, className: string, work: (db: DatabaseSync) => void): void {
  for (const file of filesOf(data, className)) {
    const db = new DatabaseSync(file);
    const own = "SELECT 1 FROM sqlite_master WHERE name IN ('schema', 'actor', 'webhook', 'queue')";
    if (db.prepare(own).get() !== undefined) work(db);
    db.close();
  }
}

/** All rows of all tables of ours. */
function rowsOf(data: string, className: string): unknown[] {
  const rows: unknown[] = [];
  inEach(data, className, (db) => {
    const tables = db.prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT LIKE 'sqlite%' ORDER BY name",
    );
    for (const { name } of tables.all())
      rows.push(name, db.prepare(`SELECT * FROM "${name}"`).all());
  });
  return rows;
}

/** Raises the number in every object of these classes and starts the server on that. */
async function raised(statements: { [className: string]: string }): Promise<unknown[][]> {
  opened = await open(STEPS.at(-1)!);
  const { data } = opened;
  for (const [className, statement] of Object.entries(statements)) {
    inEach(data, className, (db) => db.exec(statement));
  }
  const before = Object.keys(statements).map((className) => rowsOf(data, className));
  server = await startServer({ persistTo: data });
  return before;
}

async function expectRefused(method: string, path: string, body?: object): Promise<void> {
  const key = "newer";
  const said = await ask(server!.url, { method, path, ...(body && { body: body as never, key }) });
  expect(said.headers.get("Content-Type"), path).toContain("application/problem+json");
  expect(said.body, path).toMatchObject({ status: 503, code: "unavailable" });
  const { detail } = said.body as { detail: string };
  expect(detail, path).toMatch(/(schema|schema version|format) 77;.*up to \d+/);
}

async function expectUnchanged(before: unknown[][], classes: string[]): Promise<void> {
  await server?.kill();
  const after = classes.map((className) => rowsOf(opened!.data, className));
  for (const [index, className] of classes.entries()) {
    expect(after[index]!.length, className).toBeGreaterThan(0);
    expect(after[index], className).toEqual(before[index]);
  }
}

describe("data of a newer version is refused with both numbers, and left as it is", () => {
  it("of every class of objects", async () => {
    const before = await raised(CLASSES);
    const { becomes, reads } = opened!.manifest;
    const pathOf = (pattern: RegExp) =>
      [...becomes, ...reads].find(({ path }) => pattern.test(path))!.path;
    await expectRefused("GET", "/v1/actors/lamp-held");
    await expectRefused("POST", "/v1/actors/lamp-held/events", { type: "OFF" });
    await expectRefused("GET", "/v1/actors?family=lamp");
    await expectRefused("GET", "/v1/actors/ref:order:desk-busy");
    await expectRefused("GET", pathOf(/^\/v1\/bulk\//));
    await expectRefused("GET", "/v1/schedules");
    await expectRefused("GET", `${pathOf(/^\/v1\/webhooks\//)}/deliveries`);
    await expectRefused("GET", pathOf(/^\/v1\/migrations\//));
    await expectRefused("POST", "/v1/queues/scans/claim", { worker: "w" });
    await expectUnchanged(before, Object.keys(CLASSES));
  });

  it("of the registry", async () => {
    const before = await raised({ RegistryObject: SCHEMA });
    await expectRefused("GET", "/v1/definitions");
    await expectRefused("PUT", "/v1/definitions", {
      id: "x",
      definition: { id: "x", initial: "a", states: { a: {} } },
    });
    await expectUnchanged(before, ["RegistryObject"]);
  });

  it("of snapshots", async () => {
    const before = await raised({ ActorObject: FORMAT });
    await expectRefused("GET", "/v1/actors/lamp-held");
    await expectRefused("POST", "/v1/actors/lamp-held/events", { type: "OFF" });
    await expectUnchanged(before, ["ActorObject"]);
  });
});
