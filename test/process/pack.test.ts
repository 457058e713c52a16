import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import { ROOT } from "../house/sources.ts";

const CONSUMER = `
import { createClient, PerdureError } from "perdure/sdk";
import type { Actor, Client, EventAnswer } from "perdure/sdk";

interface Door {
  opened: number;
}

const door = {
  id: "door",
  initial: "closed",
  context: { opened: 0 },
  states: {
    closed: {
      on: {
        OPEN: {
          target: "open",
          actions: { type: "@xstate.assign", context: { opened: { "@expr": "context.opened + 1" } } },
        },
      },
    },
    open: { on: { CLOSE: "closed" }, after: { "60000": "closed" } },
  },
};

export async function play(baseUrl: string): Promise<string> {
  const client: Client = createClient({ baseUrl, apiKey: "dev", retry: { attempts: 2 } });
  await client.deploy("door-v1", door);
  const actor: Actor<Door> = await client.spawn<Door>("door-v1", { id: "front" });
  const answer: EventAnswer = await client.sendEvent(actor.id, "OPEN", { by: "Ann" });
  const { context, stateValue } = await client.getState<Door>(actor.id);
  // @ts-expect-error The context is what the caller named.
  void context.closed;
  const types: (string | null)[] = [];
  for await (const record of client.events(actor.id)) types.push(record.type);
  try {
    await client.getActor("nobody");
  } catch (error) {
    if (!(error instanceof PerdureError)) throw error;
    return [stateValue, context.opened, answer.seq, types.at(-1), error.code].join(" ");
  }
  return "found nobody";
}
`;

const NPM_FLAGS = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

let folder: string;
let project: string;
let packed: { filename: string; files: { path: string }[]; size: number };

function npm(args: string[], cwd: string): string {
  return execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

function node(args: string[]): string {
  return execFileSync(process.execPath, args, { cwd: project, encoding: "utf8" });
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "perdure-pack-"));
  project = join(folder, "project");
  mkdirSync(project);
  execFileSync(process.execPath, [join(ROOT, "scripts/build-sdk.ts")]);
  const listed = npm(["pack", "--json", "--ignore-scripts", `--pack-destination=${folder}`], ROOT);
  [packed] = JSON.parse(listed) as [typeof packed];
  writeFileSync(join(project, "package.json"), '{ "name": "caller", "type": "module" }');
  npm(["install", ...NPM_FLAGS, join(folder, packed.filename)], project);
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

it("the package is the SDK, what is written about it, and the licence", () => {
  const paths = packed.files.map(({ path }) => path);
  const besides = paths.filter((path) => !path.startsWith("dist/sdk/"));
  const written = ["README.md", "docs/decisions/sdk-package.md", "docs/sdk.md"];
  expect(besides.sort()).toEqual(["LICENSE", ...written, "package.json"]);
  expect(paths).toEqual(expect.arrayContaining(["dist/sdk/index.js", "dist/sdk/index.d.ts"]));
  const sources = readdirSync(join(ROOT, "src/sdk")).map((name) => name.replace(/\.ts$/, ""));
  const built = new Set(paths.map((path) => path.replace(/^dist\/sdk\/|(\.d)?\.[jt]s$/g, "")));
  expect([...built].filter((path) => !besides.includes(path)).sort()).toEqual(sources.sort());
});

it("no link in the SDK's documentation leads out of it", () => {
  const text = readFileSync(join(project, "node_modules/perdure/docs/sdk.md"), "utf8");
  // Those that begin with a scheme lead elsewhere on purpose.
  const links = [...text.matchAll(/\]\((?!https:)([^)\s#]+)/g)].map(([, path = ""]) =>
    join("docs", path),
  );
  const paths = new Set(packed.files.map(({ path }) => path));
  expect(links.filter((path) => !paths.has(path))).toEqual([]);
});

it("installing it installs nothing else", () => {
  const installed = readdirSync(join(project, "node_modules")).filter((name) => name[0] !== ".");
  expect(installed).toEqual(["perdure"]);
});

it("nothing in it imports anything but itself", () => {
  for (const { path } of packed.files) {
    if (!path.startsWith("dist/")) continue;
    const text = readFileSync(join(project, "node_modules/perdure", path), "utf8");
    for (const [, name] of text.matchAll(/(?:from|import|import\()\s*"([^"]+)"/g)) {
      expect(name).toMatch(/^\.\/[a-z-]+\.js$/);
    }
  }
});

it.each([
  ["Node's resolution", { module: "nodenext" }],
  ["a bundler's resolution", { module: "esnext", moduleResolution: "bundler" }],
])("a program type-checks against it with %s, declarations included", (_, resolution) => {
  writeFileSync(join(project, "consumer.ts"), CONSUMER);
  const compilerOptions = {
    ...resolution,
    target: "es2022",
    lib: ["es2022", "dom"],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    outDir: "out",
  };
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({ compilerOptions, files: ["consumer.ts"] }),
  );
  expect(node([join(ROOT, "node_modules/typescript/bin/tsc"), "-p", "."])).toBe("");
});

it("that program runs, against a real server", async () => {
  const server = await startServer({ persistTo: join(folder, "data") });
  try {
    const main = `import { play } from "./out/consumer.js"; console.log(await play(${JSON.stringify(server.url)}));`;
    writeFileSync(join(project, "main.js"), main);
    expect(node(["main.js"]).trim()).toBe("open 1 2 OPEN actor_not_found");
  } finally {
    await server.kill();
  }
});
