/** What steps machines here; a replay is byte for byte the same on the same one. A test holds it against the dependency. */
export const ENGINE = "xstate@5.33.3";
