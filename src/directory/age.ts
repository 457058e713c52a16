/** What orders news of an actor: an incarnation's birth, and the record that the news is as old as. */
export interface Age {
  bornAt: number;
  uid: string;
  seq: number;
}

/** Negative: `a` is older. Two incarnations of one ms, which cannot be, are told apart by their uids so that all agree. */
export function compareAges(a: Age, b: Age): number {
  if (a.uid === b.uid) return a.seq - b.seq;
  if (a.bornAt !== b.bornAt) return a.bornAt - b.bornAt;
  return a.uid < b.uid ? -1 : 1;
}
