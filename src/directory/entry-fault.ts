import type { Entry } from "./rpc.ts";

/** Why an entry cannot be kept, or null: its numbers have to be whole. */
export function entryFault(entry: Entry): string | null {
  const { bornAt, seq, updatedAt, events, replays, dueAt, changedAt } = entry;
  const numbers = { bornAt, seq, updatedAt, events, replays, changedAt, dueAt: dueAt ?? 0 };
  const broken = Object.entries(numbers).find(([, number]) => !Number.isSafeInteger(number));
  return broken ? `The entry's ${broken[0]} is not a whole number` : null;
}
