import { describe, expect, it } from "vitest";
import { importsOf, readSources, roomOf } from "./sources.ts";
import type { Import, Source } from "./sources.ts";

interface Room {
  rooms: string[];
  /** Rooms of which only types may be used. */
  types?: string[];
  packages?: string[];
}

/** Who may import whom. Arrows go one way; what is not listed is not allowed. */
const HOUSE: Record<string, Room> = {
  index: {
    rooms: ["http", "actor", "directory", "bulk", "cron", "webhooks", "sweep", "tasks", "registry"],
  },
  env: {
    rooms: [],
    types: ["actor", "base", "directory", "bulk", "cron", "webhooks", "sweep", "tasks", "registry"],
  },
  modules: { rooms: [] },
  http: {
    rooms: [
      "directory",
      "registry",
      "webhooks",
      "outbound",
      "migration",
      "lifecycle",
      "machine",
      "activities",
      "base",
    ],
    types: ["actor", "bulk", "cron", "sweep", "tasks", "env"],
    packages: ["hono", "zod"],
  },
  actor: {
    rooms: [
      "lifecycle",
      "directory",
      "storage",
      "migration",
      "machine",
      "registry",
      "activities",
      "outbound",
      "implementations",
      "fingerprint",
      "base",
    ],
    types: ["env", "webhooks", "tasks"],
    packages: ["cloudflare:workers"],
  },
  bulk: {
    rooms: ["directory", "storage", "base"],
    types: ["actor", "env"],
    packages: ["cloudflare:workers"],
  },
  sweep: {
    rooms: ["directory", "storage", "migration", "base"],
    types: ["registry", "env"],
    packages: ["cloudflare:workers"],
  },
  tasks: {
    rooms: ["activities", "fingerprint", "storage", "base"],
    types: ["env"],
    packages: ["cloudflare:workers"],
  },
  cron: {
    rooms: ["directory", "storage", "base"],
    types: ["actor", "env"],
    packages: ["cloudflare:workers", "croner"],
  },
  webhooks: {
    rooms: ["registry", "outbound", "storage", "base"],
    types: ["env"],
    packages: ["cloudflare:workers"],
  },
  outbound: { rooms: ["base"], types: ["activities"] },
  directory: {
    rooms: ["storage", "migration", "fingerprint", "base"],
    types: ["lifecycle", "machine", "env"],
    packages: ["cloudflare:workers"],
  },
  registry: {
    rooms: ["machine", "migration", "storage", "fingerprint", "base"],
    types: ["directory", "webhooks", "env"],
    packages: ["cloudflare:workers"],
  },
  migration: { rooms: ["fingerprint", "base"] },
  lifecycle: {
    rooms: ["machine", "migration", "activities", "fingerprint", "base"],
    types: ["directory", "webhooks"],
  },
  machine: {
    rooms: ["implementations", "activities", "fingerprint", "base"],
    packages: ["xstate", "@marcbachmann/cel-js"],
  },
  activities: { rooms: ["base"] },
  storage: { rooms: ["base"] },
  fingerprint: { rooms: ["wasm"] },
  implementations: { rooms: [], types: ["machine", "activities", "base"] },
  sdk: { rooms: [] },
  base: { rooms: [] },
};

const SQL = /\b(SELECT|INSERT (OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM|CREATE (TABLE|INDEX))\b/;

const sources = readSources();

describe("the rooms of src", () => {
  it("each have their line in the table", () => {
    const unknown = sources.filter(({ room }) => HOUSE[room] === undefined);
    expect(unknown.map(({ path }) => path)).toEqual([]);
    expect(sources.length).toBeGreaterThan(20);
  });

  it("import only what stands to their right", () => {
    expect(sources.flatMap(strayImports)).toEqual([]);
  });

  it("are allowed only what they import", () => {
    // In this one nothing is yet: it is where others put theirs.
    const rooms = Object.entries(HOUSE).filter(([name]) => name !== "implementations");
    expect(rooms.flatMap(([name, room]) => idleIn(name, room))).toEqual([]);
  });

  it("keep SQL in storage", () => {
    const stray = sources.filter(({ room, code }) => room !== "storage" && SQL.test(code));
    expect(stray.map(({ path }) => path)).toEqual([]);
  });

  it("set alarms in one file", () => {
    const files = sources.filter(({ code }) => /\bsetAlarm\(/.test(code)).map(({ path }) => path);
    expect(files).toHaveLength(1);
    expect(files[0]).toMatch(/^src\/storage\//);
  });

  it("call the wasm module from one file", () => {
    const callers = sources.filter(({ imports }) =>
      imports.some(({ target }) => target.endsWith(".wasm")),
    );
    expect(callers).toHaveLength(1);
    expect(callers[0]?.room).toBe("fingerprint");
  });

  it("name files after what is in them", () => {
    const vague = /\/(utils?|helpers?|common|misc|shared)(\/|\.ts$)/;
    expect(sources.map(({ path }) => path).filter((path) => vague.test(path))).toEqual([]);
  });
});

describe("reading imports", () => {
  it("finds every form of them", () => {
    const code = [
      `import a, {\n  type B,\n} from "./b.ts";`,
      `import type { C } from "../machine/c.ts";`,
      `export { d } from "xstate";`,
      `export * from "./e.ts";`,
      `import "zod";`,
      `const f = await import("hono");`,
      `const text = "no import";`,
    ].join("\n");
    expect(importsOf(code, "src/actor/x.ts")).toEqual([
      { target: "src/actor/b.ts", typesOnly: false },
      { target: "src/machine/c.ts", typesOnly: true },
      { target: "xstate", typesOnly: false },
      { target: "src/actor/e.ts", typesOnly: false },
      { target: "zod", typesOnly: false },
      { target: "hono", typesOnly: false },
    ]);
  });
});

function strayImports(source: Source): string[] {
  const room = HOUSE[source.room] ?? { rooms: [] };
  return source.imports
    .filter((one) => !isAllowed(room, source.room, one))
    .map(({ target }) => `${source.path} imports ${target}`);
}

/** What a room is allowed, and does not use, or of which it uses types alone. */
function idleIn(name: string, { rooms, types = [], packages = [] }: Room): string[] {
  const imports = sources.filter(({ room }) => room === name).flatMap((source) => source.imports);
  const used = new Set(
    imports.map(({ target, typesOnly }) => {
      const own = target.startsWith("src/") ? roomOf(target) : (target.split("/")[0] as string);
      return `${own} ${typesOnly && target.startsWith("src/")}`;
    }),
  );
  const isUsed = (packageName: string) =>
    imports.some(({ target }) => target.startsWith(packageName));
  return [
    ...rooms.filter((room) => !used.has(`${room} false`)),
    ...types.filter((room) => !used.has(`${room} true`)),
    ...packages.filter((packageName) => !isUsed(packageName)),
  ].map((idle) => `${name}: ${idle}`);
}

function isAllowed(room: Room, name: string, { target, typesOnly }: Import): boolean {
  if (target.startsWith("wasm/")) return room.rooms.includes("wasm");
  if (!target.startsWith("src/")) return isPackageOf(room, target);
  const other = roomOf(target);
  if (other === name || room.rooms.includes(other)) return true;
  return typesOnly && (room.types ?? []).includes(other);
}

function isPackageOf(room: Room, target: string): boolean {
  return (room.packages ?? []).some((name) => target === name || target.startsWith(`${name}/`));
}
