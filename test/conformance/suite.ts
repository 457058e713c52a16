import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";

/** What the suite says about one chart: which events to send, and where it must be after each. */
export interface Script {
  /** Ids of the active states without children. */
  initialConfiguration: string[];
  events: Stimulus[];
}

export interface Stimulus {
  event: { name: string };
  /** ms that pass before it. */
  after?: number;
  nextConfiguration: string[];
}

export interface Case {
  /** `folder/file`, without endings. */
  name: string;
  scxml: string;
  script: Script;
}

const TESTS = join(
  dirname(createRequire(import.meta.url).resolve("@scion-scxml/test-framework/package.json")),
  "test",
);

/** Every chart of the suite that has a script; those without are parts of others, or need a person. */
export function readSuite(): Case[] {
  return readdirSync(TESTS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: folder }) => {
      const charts = readdirSync(join(TESTS, folder)).filter((file) => file.endsWith(".scxml"));
      return charts.flatMap((file) => readCase(folder, basename(file, ".scxml")));
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function readCase(folder: string, file: string): Case[] {
  const path = join(TESTS, folder, file);
  if (!existsSync(`${path}.json`)) return [];
  const scxml = readFileSync(`${path}.scxml`, "utf8");
  const script = JSON.parse(readFileSync(`${path}.json`, "utf8"));
  return [{ name: `${folder}/${basename(file, ".txml")}`, scxml, script }];
}
