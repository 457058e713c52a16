import { PerdureError } from "../base/errors.ts";
import type { SweepRpc } from "./rpc.ts";
import type { Sweep } from "./sweep.ts";

/** Reads the rule and writes down what follows from it; the alarm does the rest. */
export async function poke(
  sweep: Sweep,
  { tenant, ruleId, again }: Parameters<SweepRpc["poke"]>[0],
): Promise<null> {
  const name = { tenant, ruleId };
  const order = await sweep.order(name);
  if (order === null) {
    throw new PerdureError("rule_not_found", `There is no migration rule ${ruleId}.`);
  }
  sweep.take(name, order, again);
  // Who asks may not know that it has finished: it is told once more.
  const { course } = sweep;
  if (course.told !== null) sweep.save(name, { ...course, told: null });
  const step = sweep.step(order);
  if (step.do === "wait") sweep.alarm.ensure(step.until);
  else if (step.do !== "rest") sweep.alarm.ensure(Date.now());
  return null;
}
