const PAUSE_MS = 20;
/** Less than a test may take. */
const PAUSES_MOST = 100_000 / PAUSE_MS;

/** Of an answer that is not as wanted, in what the test says of it. */
const CHARS_SHOWN = 1_000;

/** Asks again until the answer is as wanted, and gives that; throws with the last one where it never is. */
export async function until<Answer>(
  ask: () => Answer | Promise<Answer>,
  wanted: (answer: Answer) => boolean,
  ms = 30_000,
): Promise<Answer> {
  const end = Date.now() + ms;
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    if (Date.now() > end) {
      const last = String(JSON.stringify(answer)).slice(0, CHARS_SHOWN);
      throw new Error(`Not as wanted after ${ms} ms (${wanted}), but: ${last}`);
    }
    await pause();
  }
}

/** Waits until something is so, and throws where it never is. It counts its pauses, since the clock may be faked. */
export async function untilTrue(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let pauses = 0; !(await holds()); pauses += 1) {
    if (pauses > PAUSES_MOST) throw new Error(`It never becomes so: ${holds}`);
    await pause();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
