import { openFiles, residentMegabytes } from "../../../bench/process-facts.ts";
import { ends, median, tenths } from "./laws.ts";
import type { Sample } from "./laws.ts";
import type { Observed } from "./observed.ts";

const SAMPLE_MS = 250;

/** The median of the first third and of the last, that of each tenth, and the most ever seen. */
export interface Course {
  first: number;
  last: number;
  tenths: number[];
  most: number;
}

/** Memory and open files of a server's process, looked at again and again from its making until it is stopped. */
export class Meter {
  readonly #memory: Sample[] = [];
  readonly #files: Sample[] = [];
  /** Files beyond what the actors that clients asked for account for, at the worst moment. */
  filesBeyond = Number.NEGATIVE_INFINITY;
  readonly #timer: ReturnType<typeof setInterval>;

  /** `allowed`: files that there may be, as things are now. */
  constructor(pid: number, observed: Observed, allowed: () => number) {
    this.#timer = setInterval(() => {
      const at = observed.now;
      const files = openFiles(pid) ?? 0;
      this.#files.push({ at, value: files });
      this.#memory.push({ at, value: residentMegabytes(pid) ?? 0 });
      this.filesBeyond = Math.max(this.filesBeyond, files - allowed());
    }, SAMPLE_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** MB, between two times. */
  memory(from: number, to: number): Course {
    return courseOf(this.#memory, from, to);
  }

  files(from: number, to: number): Course {
    return courseOf(this.#files, from, to);
  }
}

function courseOf(samples: readonly Sample[], from: number, to: number): Course {
  const [first, last] = ends(samples, from, to).map((values) => Math.round(median(values)));
  const most = Math.round(samples.reduce((so, { value }) => Math.max(so, value), 0));
  return {
    first: first as number,
    last: last as number,
    tenths: tenths(samples, from, to).map(Math.round),
    most,
  };
}
