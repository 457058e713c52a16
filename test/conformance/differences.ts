/** Cases that end elsewhere than SCXML says, and why. What is not in here has to end as SCXML says. */
export const DIFFERENCES: Record<string, { whose: "XState" | "Perdure"; why: string }> = {
  "scxml-prefix-event-name-matching/star0": {
    whose: "XState",
    why: "of two transitions of one state, the one whose event is written with more letters comes first, not the one written first",
  },
};
