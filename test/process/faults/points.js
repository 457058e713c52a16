// Where something can go wrong, counted per tenant, and the faults of each tenant's run. For the Worker of this folder.

/** ms that a delayed answer is held back. */
const DELAY_MS = 400;

/** By tenant. Each has objects of its own, so runs do not meet. */
const runs = new Map();

/** Each fault is what happens at the `nth` time that a point is passed, `{ point, nth, how }`. */
export function begin({ tenant, outside, faults }) {
  runs.set(tenant, { outside, faults, counts: new Map(), met: [], open: true });
  return {};
}

/** From now on nothing is counted and nothing goes wrong; what was passed, how often, and which faults were met. */
export function end({ tenant }) {
  const run = runs.get(tenant);
  run.open = false;
  return { counts: Object.fromEntries(run.counts), met: run.met };
}

export function tenantCalling(url) {
  const { origin } = new URL(url);
  for (const [tenant, { outside }] of runs) if (outside === origin) return tenant;
  return null;
}

/** Counts that a point is passed; how it goes wrong, or null. */
export function pass(tenant, point) {
  const run = runs.get(tenant);
  if (run === undefined || !run.open) return null;
  const nth = (run.counts.get(point) ?? 0) + 1;
  run.counts.set(point, nth);
  const fault = run.faults.find((one) => one.point === point && one.nth === nth);
  if (fault === undefined) return null;
  run.met.push(fault);
  return fault.how;
}

/** Something that is done at once: it fails before it is done, or its object ends before or after. */
export function actAt(how, abort, act) {
  if (how === "throw") throw refusedByDisk();
  if (how === "abort") abort();
  const result = act();
  if (how === "abort-after") abort();
  return result;
}

/** Something that is awaited. `failure`: with what it fails. */
export async function awaitAt(how, abort, act, failure) {
  if (how === "throw") throw failure();
  if (how === "break") throw new Error("injected: its code threw");
  if (how === "abort") abort();
  const result = await act();
  if (how === "lose") throw failure();
  if (how === "abort-after") abort();
  if (how === "delay") await new Promise((resolve) => setTimeout(resolve, DELAY_MS));
  return result;
}

/** As workerd says it. */
export function refusedByDisk() {
  return new Error("database or disk is full: SQLITE_FULL");
}

export function lost() {
  return Object.assign(new Error("Network connection lost."), { retryable: true });
}
