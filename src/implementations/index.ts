import type { Implementations } from "../machine/implementations.ts";

/**
 * Names for definitions to use: `"actions": ["applyDiscount"]` runs `actions.applyDiscount` below.
 * An action, guard or delay must be pure and synchronous, because a replay runs it again: no clock but `now`, no
 * randomness, no requests. Requests are what `sources` are for. Set another `version` whenever one answers differently than before.
 */
export const implementations: Implementations = {
  version: "1",
  actions: {},
  guards: {},
  delays: {},
  sources: {},
};
