/** How wrangler's module rules import files that are not code. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
