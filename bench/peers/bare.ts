import { bareObject } from "../bare/target.ts";
import { workerdVersion } from "../machine-facts.ts";
import type { Peer } from "./peer.ts";

/** What the platform alone allows: one insert per call, and nothing is checked or kept beside it. */
export const bare: Peer = {
  ...bareObject,
  key: "bare",
  keyed: false,
  prepare: () => {},
  versions: () => `workerd ${workerdVersion()}`,
};
