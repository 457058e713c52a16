import type { Age } from "./age.ts";
import type { Refs } from "./by-refs.ts";
import type { RefChange } from "./rpc.ts";

/**
 * What an actor's references became: those of `before` that are no more, and those of `after` that are new
 * or, with `all`, everything that it has, for another incarnation. Each is as old as the news.
 */
export function refChanges(
  id: string,
  before: Refs,
  after: Refs,
  age: Age,
  all: boolean,
): RefChange[] {
  const change = (name: string, value: string, held: boolean): RefChange => ({
    name,
    value,
    id,
    uid: age.uid,
    bornAt: age.bornAt,
    seq: age.seq,
    held,
  });
  const lost = Object.entries(before).filter(([name, value]) => valueOf(after, name) !== value);
  const held = Object.entries(after).filter(
    ([name, value]) => all || valueOf(before, name) !== value,
  );
  return [
    ...lost.map(([name, value]) => change(name, value, false)),
    ...held.map(([name, value]) => change(name, value, true)),
  ];
}

function valueOf(refs: Refs, name: string): string | undefined {
  return Object.hasOwn(refs, name) ? refs[name] : undefined;
}
