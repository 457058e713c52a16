import { callObject } from "./call-object.ts";
import type { Objects } from "./call-object.ts";
import { othersTurn } from "./pause.ts";

/** Calls between which others get their turn. */
const CALLS_PER_TURN = 32;

/** Calls many objects at once, in the order of their names; reads only, as each may be made again. */
export async function callAll<Rpc, Result>(
  objects: Objects<Rpc>,
  names: readonly string[],
  call: (object: Rpc, name: string) => Promise<Result>,
): Promise<Result[]> {
  let turn = Promise.resolve();
  return await Promise.all(
    names.map(async (name, index) => {
      if (index % CALLS_PER_TURN === 0) turn = turn.then(othersTurn);
      await turn;
      return await callObject(objects, name, true, (object) => call(object, name));
    }),
  );
}
