/** Compiles the C sources in wasm/ to wasm/fingerprint.wasm: `npm run build:wasm`. */
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { commands, runLLVM } from "@yowasp/clang";

const SOURCES = ["fingerprint.c", "decide.c"];
const HEADERS = ["fingerprint.h"];
const OUTPUT = "fingerprint.wasm";
const FOLDER = new URL("../wasm/", import.meta.url);

/** bytes; two pages, from the first instant on. The module can never ask for more. */
const MEMORY = 2 * 65_536;
/** bytes; placed below the data, so that an overflow traps instead of writing over the data. */
const STACK = 1_024;

const LANGUAGE = ["--target=wasm32-unknown-unknown", "-std=c17", "-O2", "-ffreestanding"];
const WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"];
const LINKER = ["--no-entry", "--strip-all", "--stack-first", "-z", `stack-size=${STACK}`].concat(
  `--initial-memory=${MEMORY}`,
  `--max-memory=${MEMORY}`,
);
const ARGUMENTS = [...LANGUAGE, ...WARNINGS, "-nostdlib", `-Wl,${LINKER.join(",")}`].concat(
  SOURCES,
  "-o",
  OUTPUT,
);

/** The bytes of the module: a function of the sources and the pinned compiler alone. */
export async function compile(): Promise<Uint8Array> {
  const files: Record<string, string> = {};
  for (const name of [...SOURCES, ...HEADERS])
    files[name] = await readFile(new URL(name, FOLDER), "utf8");
  // Loads the compiler without the progress lines that it would print on its own.
  await runLLVM(undefined, undefined, { fetchProgress: () => {} });
  const output = await commands.clang(ARGUMENTS, files, { decodeASCII: false });
  const compiled = output?.[OUTPUT];
  if (!(compiled instanceof Uint8Array)) throw new Error(`clang wrote no ${OUTPUT}`);
  return compiled;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const compiled = await compile();
  await writeFile(new URL(OUTPUT, FOLDER), compiled);
  console.log(`wasm/${OUTPUT}: ${compiled.byteLength} bytes`);
}
