/** Something the person who started the script can put right; shown without a stack. */
export class Refusal extends Error {}

/** Runs a script's main function; a refusal becomes its sentence and exit code 1. */
export async function runScript(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Refusal ? error.message : error);
    process.exit(1);
  }
}
