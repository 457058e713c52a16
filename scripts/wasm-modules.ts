/**
 * Lets plain Node import `.wasm` as a compiled module, as workerd and the tests do:
 * `node --import ./scripts/wasm-modules.ts script.ts`.
 */
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith(".wasm")) return nextLoad(url, context);
    const path = JSON.stringify(fileURLToPath(url));
    const source = `import { readFileSync } from "node:fs";
      export default new WebAssembly.Module(readFileSync(${path}));`;
    return { format: "module", source, shortCircuit: true };
  },
});
