import { setTimeout as sleep } from "node:timers/promises";
import type { History } from "./history.ts";
import type { Server } from "./server.ts";

/** How often a worker dies with a task in its hands. */
const DEATHS = 0.2;

/** Signs what it is handed, until it is told to end. Sometimes it drops a task and says nothing: its lease has to end. */
export async function workAs(
  worker: string,
  server: Server,
  random: () => number,
  history: History,
  ends: AbortSignal,
): Promise<void> {
  while (!ends.aborted) {
    const claim = { worker, waitMs: 500 };
    const { status, body } = await server.call("POST", "/v1/queues/signing/claim", "-", claim);
    if (status !== 200) throw new Error(`a claim was answered ${status}: ${JSON.stringify(body)}`);
    for (const { id, attempts, leaseToken } of body.tasks) {
      const dies = random() < DEATHS;
      history.note("claimed", { id, attempts, worker, dies });
      if (dies) continue;
      await sleep(random() * 50);
      const complete = { leaseToken, output: { signedBy: worker } };
      const path = `/v1/tasks/${encodeURIComponent(id)}/complete`;
      const completed = await server.call("POST", path, `${id}-${attempts}-${worker}`, complete);
      history.note("completed", { id, attempts, status: completed.status });
      // Its lease has ended meanwhile, or another worker was quicker.
      if (![200, 409].includes(completed.status)) {
        throw new Error(`${id} could not be completed: ${JSON.stringify(completed)}`);
      }
    }
  }
}
