import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ROOT } from "../house/sources.ts";

/** A project whose only dependency lies in a folder beside it, so that npm needs no network. */
let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "perdure-setup-"));
  mkdirSync(join(project, "scripts"));
  mkdirSync(join(project, "dependency"));
  cpSync(join(ROOT, "scripts/setup.mjs"), join(project, "scripts/setup.mjs"));
  write("dependency/package.json", { name: "dependency", version: "1.0.0" });
  write("package.json", { name: "p", devDependencies: { dependency: "file:dependency" } });
  write("package-lock.json", {
    name: "p",
    lockfileVersion: 3,
    packages: {
      "": { name: "p", devDependencies: { dependency: "file:dependency" } },
      dependency: { version: "1.0.0", dev: true },
      "node_modules/dependency": { resolved: "dependency", link: true },
    },
  });
});

afterEach(() => rmSync(project, { recursive: true, force: true }));

function write(path: string, content: unknown): void {
  writeFileSync(join(project, path), JSON.stringify(content));
}

function setup() {
  return spawnSync(process.execPath, ["scripts/setup.mjs"], { cwd: project, encoding: "utf8" });
}

it("setup installs what is missing, also with NODE_ENV=production, and then has nothing to do", () => {
  const env = process.env["NODE_ENV"];
  process.env["NODE_ENV"] = "production";
  try {
    const first = setup();
    expect(first.stderr).toContain("Installing");
    expect(first.status).toBe(0);
    expect(first.stdout).toBe("");
  } finally {
    process.env["NODE_ENV"] = env;
  }
  expect(existsSync(join(project, "node_modules/dependency/package.json"))).toBe(true);
  expect(setup()).toMatchObject({ status: 0, stdout: "", stderr: "" });
});

it("setup installs again when the lock file has changed since", () => {
  setup();
  const lock = join(project, "package-lock.json");
  writeFileSync(lock, `${readFileSync(lock, "utf8")}\n`);
  const later = new Date(Date.now() + 60_000);
  utimesSync(lock, later, later);
  expect(setup().stderr).toContain("Installing");
});

it("setup takes an install that was broken off for none", () => {
  setup();
  rmSync(join(project, "node_modules/.package-lock.json"));
  expect(setup().stderr).toContain("Installing");
});

it("setup leaves alone what a link to another project's packages points to", () => {
  mkdirSync(join(project, "elsewhere"));
  write("elsewhere/kept.json", {});
  symlinkSync("elsewhere", join(project, "node_modules"));
  const run = setup();
  expect(run.status).toBe(1);
  expect(run.stderr).toContain("node_modules is a link");
  expect(existsSync(join(project, "elsewhere/kept.json"))).toBe(true);
});

it("setup says so and fails when npm does", () => {
  write("package-lock.json", { name: "p", lockfileVersion: 3, packages: {} });
  const run = setup();
  expect(run.status).not.toBe(0);
  expect(run.stderr).toContain("npm ci failed");
});
