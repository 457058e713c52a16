import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { compile } from "../../scripts/build-wasm.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

describe("wasm/fingerprint.wasm", () => {
  it("is what its sources compile to, byte for byte", { timeout: 120_000 }, async () => {
    const committed = await readFile(`${root}wasm/fingerprint.wasm`);
    const built = await compile();
    expect(Buffer.from(built).toString("hex")).toBe(committed.toString("hex"));
  });

  it("can be imported by a script in plain Node", { timeout: 30_000 }, async () => {
    const script = `import { fingerprintOf } from "./src/fingerprint/kernel.ts";
      process.stdout.write(fingerprintOf([]));`;
    const hook = "./scripts/wasm-modules.ts";
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--import", hook, "--input-type=module-typescript", "--eval", script],
      { cwd: root },
    );
    expect(stdout).toBe("cbf29ce484222325");
  });
});
