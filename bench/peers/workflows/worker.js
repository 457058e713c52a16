// The loan as a Workflow: it waits for one event after the other, and each becomes a step.
import { WorkflowEntrypoint } from "cloudflare:workers";
import { afterEvent, newLoan } from "../loan.js";

const TYPE = "loan";
const WAIT = "14 days";
const SETTLE_MS = 20;
const SETTLED_AFTER_MS = 10_000;

export class LoanWorkflow extends WorkflowEntrypoint {
  async run(_event, step) {
    let loan = newLoan();
    for (let seq = 2; ; seq++) {
      const { payload } = await step.waitForEvent(`event ${seq}`, { type: TYPE, timeout: WAIT });
      const before = loan;
      loan = await step.do(`step ${seq}`, async () => ({ seq, ...afterEvent(before, payload) }));
    }
  }
}

async function create(env, id) {
  await env.LOANS.create({ id });
  // `create` does not wait until the instance is stored; looking for it does.
  await env.LOANS.get(id);
  return Response.json({ id }, { status: 201 });
}

/** Accepted: that the event is stored is all that a sender can learn. */
async function send(env, id, event) {
  const instance = await env.LOANS.get(id);
  await instance.sendEvent({ type: TYPE, payload: event });
  return Response.json({ id }, { status: 202 });
}

/** Of the step that `seq` events lead to, once it is done. */
async function read(env, id, seq) {
  const instance = await env.LOANS.get(id);
  for (let waited = 0; waited < SETTLED_AFTER_MS; waited += SETTLE_MS) {
    // The engine for local use gives the outputs of all steps under this name.
    const { __LOCAL_DEV_STEP_OUTPUTS: outputs } = await instance.status();
    const last = outputs.findLast((output) => output?.seq !== undefined);
    if (last?.seq === seq) return Response.json({ id, ...last });
    await scheduler.wait(SETTLE_MS);
  }
  return Response.json({ id }, { status: 404 });
}

const PATH = /^\/instances\/([\w.:-]+)(?:\/(events|\d+))?$/;

const worker = {
  async fetch(request, env) {
    const [, id, rest] = PATH.exec(new URL(request.url).pathname) ?? [];
    if (id === undefined) return Response.json({ status: "ok" });
    if (request.method === "GET") return read(env, id, Number(rest));
    return rest === undefined ? create(env, id) : send(env, id, await request.json());
  },
};

// oxlint-disable-next-line import/no-default-export
export default worker;
