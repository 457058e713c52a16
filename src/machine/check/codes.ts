/** What can be wrong with a definition; docs/definitions.md says what each means. */
export const ERROR_CODES = [
  // Data
  "not_json",
  "not_an_object",
  "too_deep",
  "too_large",
  "reserved_key",
  "lone_surrogate",
  // Keys and values
  "unknown_key",
  "old_key",
  "misplaced_key",
  "missing_key",
  "invalid_value",
  // States
  "missing_id",
  "invalid_id",
  "duplicate_id",
  "ambiguous_timer",
  "invalid_state_key",
  "unknown_type",
  "invalid_root",
  "missing_states",
  "misplaced_states",
  "missing_initial",
  "unknown_initial",
  "initial_not_allowed",
  "initial_is_history",
  "too_many_states",
  "too_many_levels",
  "too_many_regions",
  // Transitions
  "invalid_transition",
  "invalid_target",
  "unknown_target",
  "conflicting_targets",
  "history_target_outside",
  "history_cycle",
  // Events
  "invalid_event",
  "invalid_event_type",
  "reserved_event_type",
  "invalid_wildcard",
  "event_code_clash",
  // Behaviour
  "invalid_expression",
  "expression_not_allowed",
  "clock_in_always",
  "invalid_action",
  "unknown_action",
  "invalid_guard",
  "unknown_guard",
  "invalid_delay",
  "unknown_delay",
  "reserved_id",
  "unknown_source",
  "invalid_input",
  "duplicate_compensation",
  // The whole
  "endless_always",
  "endless_start",
  "done_at_once",
  "refused",
  "more_problems",
] as const;

/** What is allowed and yet seldom meant. */
export const WARNING_CODES = [
  "unreachable_state",
  "dead_end",
  "no_timeout",
  "no_final_state",
  "never_done",
  "never_taken",
  "output_ignored",
  "near_expression_key",
  "text_like_expression",
  "wildcard_takes_timers",
  "max_iterations_ignored",
  "invoke_without_id",
  "invoke_without_on_error",
  "approval_without_reminder",
  "more_problems",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];
export type WarningCode = (typeof WARNING_CODES)[number];
