/** How wrangler's module rules import files that are not code. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

declare module "*.html" {
  const text: string;
  export default text;
}

declare module "*.txt" {
  const text: string;
  export default text;
}
