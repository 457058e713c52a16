import type { Target } from "../target.ts";

/** What Perdure is measured beside. */
export interface Peer extends Target {
  /** Its name on the command line. */
  key: string;
  /** Whether a repeated `Idempotency-Key` gets the first answer again and does nothing. */
  keyed: boolean;
  /** Before it is started for the first time; throws a `Refusal` if it cannot be. */
  prepare(): void;
  /** Of all that takes part; asked after `prepare`. */
  versions(): string;
}
