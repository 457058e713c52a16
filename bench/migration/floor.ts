import { bareObject } from "../bare/target.ts";
import type { Lab } from "../lab.ts";
import { cpuSeconds } from "../process-facts.ts";
import { onAll } from "./client.ts";
import type { Loan } from "./loans.ts";
import { ASLEEP_MS, pause } from "./sweep.ts";

/** Objects that are asked: enough for a rate. */
const MOST = 5_000;

export interface Floor {
  objects: number;
  /** Sleeping objects woken for one insert each. */
  perSecond: number;
  /** ms of the server's processor time for each. */
  cpuMs: number;
}

/** What the platform alone allows where everybody sleeps: bare objects, one insert each, as many at once. */
export function floorOf(lab: Lab, loans: readonly Loan[], clients: number): Promise<Floor> {
  const some = loans.slice(0, MOST);
  return lab.serve(bareObject, async ({ url, pid }) => {
    await onAll(url, some, clients, ({ id }) => bareObject.create(id), checkCreated);
    await pause(ASLEEP_MS);
    const before = cpuSeconds(pid) ?? Number.NaN;
    const begin = performance.now();
    const check: typeof checkCreated = ({ id }, answer) => bareObject.checkEvent(id, 0, answer);
    await onAll(url, some, clients, ({ id }) => bareObject.event(id, 0), check);
    const ms = performance.now() - begin;
    const cpu = (cpuSeconds(pid) ?? Number.NaN) - before;
    return {
      objects: some.length,
      perSecond: (some.length * 1_000) / ms,
      cpuMs: (cpu * 1_000) / some.length,
    };
  });
}

function checkCreated({ id }: Loan, answer: Parameters<typeof bareObject.checkCreated>[1]): void {
  bareObject.checkCreated(id, answer);
}
