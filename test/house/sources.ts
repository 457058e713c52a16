import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface Import {
  /** As written, or for our own files the path from the root. */
  target: string;
  typesOnly: boolean;
}

export interface Source {
  /** From the root: `src/actor/alarm.ts`. */
  path: string;
  /** The folder below `src`, or the file's name for one that lies in `src` itself. */
  room: string;
  /** Without comments. */
  code: string;
  imports: Import[];
}

export function readSources(): Source[] {
  return readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length))
    .sort()
    .map(readSource);
}

function readSource(path: string): Source {
  const code = withoutComments(readFileSync(join(ROOT, path), "utf8"));
  return { path, room: roomOf(path), code, imports: importsOf(code, path) };
}

export function roomOf(path: string): string {
  return path.split("/")[1]?.replace(/(\.d)?\.ts$/, "") ?? "";
}

export function importsOf(code: string, path: string): Import[] {
  const statements = code.matchAll(
    /^\s*(?:import|export)\s(?:(type\s)?[^;"']*?\sfrom\s*)?["']([^"']+)["']/gm,
  );
  const found = [...statements].map(([, type, target]) => ({
    target: target ?? "",
    typesOnly: type !== undefined,
  }));
  for (const [, target] of code.matchAll(/\bimport\(\s*["']([^"']+)["']/g)) {
    found.push({ target: target ?? "", typesOnly: false });
  }
  return found.map(({ target, typesOnly }) => ({
    target: target.startsWith(".") ? normalize(join(dirname(path), target)) : target,
    typesOnly,
  }));
}

export function withoutComments(text: string): string {
  // A `//` after a colon or inside quotes is part of an address.
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/[^\n]*/g, "$1");
}
