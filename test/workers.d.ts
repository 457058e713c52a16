import type { Env as PerdureEnv } from "../src/env.ts";

declare global {
  namespace Cloudflare {
    /** What `env` of `cloudflare:workers` holds in tests. */
    interface Env extends PerdureEnv {}
  }
}
