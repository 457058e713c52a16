/** A time that passes, unless it is cancelled: a timer left running keeps an object from being put away. */
export class Deadline {
  readonly passed: Promise<void>;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(ms: number) {
    this.passed = new Promise((resolve) => {
      this.#timer = setTimeout(resolve, ms);
    });
  }

  cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}
