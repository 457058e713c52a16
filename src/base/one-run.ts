/** Work of which one run is under way at a time, shared by all who ask for it meanwhile. */
export class OneRun {
  #run: Promise<void> | null = null;

  /** The run that is under way, or a new one. */
  join(work: () => Promise<void>): Promise<void> {
    this.#run ??= work().finally(() => {
      this.#run = null;
    });
    return this.#run;
  }

  /** A run that began after this was called: one that is under way may have passed by what it is wanted for. */
  async anew(work: () => Promise<void>): Promise<void> {
    await this.over();
    return this.join(work);
  }

  /** When none is under way, however it ended. */
  async over(): Promise<void> {
    while (this.#run !== null) await this.#run.catch(() => {});
  }
}
