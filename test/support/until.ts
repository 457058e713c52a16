/** Asks again until the answer is as wanted; the last one is given back either way, for the test to look at. */
export async function until<Answer>(
  ask: () => Promise<Answer>,
  wanted: (answer: Answer) => boolean,
  ms = 30_000,
): Promise<Answer> {
  const end = Date.now() + ms;
  for (;;) {
    const answer = await ask();
    if (wanted(answer) || Date.now() > end) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
