import type { JsonObject } from "../../src/base/json.ts";
import { OUTSIDE } from "./outside.ts";
import { inTheMiddle } from "./machines.ts";
import type { Scribe } from "./scribe.ts";

const MEMBER = {
  id: "member",
  initial: "idle",
  states: { idle: { on: { PING: "pinged" } }, pinged: { tags: ["awake"] } },
};
const BELL = {
  id: "bell",
  initial: "silent",
  states: { silent: { on: { RING: "ringing" } }, ringing: { on: { REST: "silent" } } },
};
const MEMBERS = 100;
const BELLS = 3;

/** What the second step could do: lists, references, bulk operations, schedules, webhooks. */
export async function playFleet(scribe: Scribe): Promise<void> {
  await scribe.deploy("member-v1", MEMBER);
  await scribe.deploy("bell-v1", BELL);
  await playSchedules(scribe);
  await playBulk(scribe);
  await playWebhooks(scribe);
  scribe.reads(
    "/v1/actors?family=desk",
    "/v1/actors?family=loan&limit=3",
    "/v1/actors?tag=waiting-for-bank",
    "/v1/actors?family=desk&attention=parked",
    "/v1/actors?ref.order=desk-busy",
    "/v1/actors/ref:order:desk-busy",
    "/v1/actors/count?family=loan&groupBy=state",
    "/v1/actors/count?family=approval&groupBy=status",
    "/v1/definitions/loan-v1/stats",
  );
  scribe.next(
    "POST",
    "/v1/actors/ref:order:desk-busy/events",
    200,
    { type: "AWAY" },
    {
      actorId: "desk-busy",
    },
  );
}

async function playSchedules(scribe: Scribe): Promise<void> {
  const spawn = { definitionId: "bell-v1" };
  await scribe.ask("POST", "/v1/schedules", { id: "often", cron: "*/5 * * * * *", spawn });
  await scribe.until("/v1/schedules/often/runs", { items: [{}] });
  await scribe.ask("POST", "/v1/schedules/often/pause");
  await scribe.ask("POST", "/v1/schedules", {
    id: "leap",
    cron: "0 0 29 2 *",
    timezone: "Europe/Berlin",
    send: { actorId: "desk-busy", type: "NOTE" },
  });
  scribe.reads("/v1/schedules/often", "/v1/schedules/often/runs");
  scribe.becomes("/v1/schedules/leap", { cron: "0 0 29 2 *", state: "active" });
  scribe.next("POST", "/v1/schedules/often/resume", 200);
  scribe.nextRead("/v1/schedules/often/runs?limit=2", {
    items: [{ outcome: "succeeded" }, { outcome: "succeeded" }],
  });
  scribe.next("DELETE", "/v1/schedules/often", 204);
}

/** One that is killed in its middle. */
async function playBulk(scribe: Scribe): Promise<void> {
  const ids = Array.from({ length: MEMBERS }, (_, n) => `member-${n}`);
  await scribe.spawnMany("member-v1", ids);
  scribe.killAmong(inTheMiddle(ids), async () => {
    const request = { filter: { family: "member" }, action: "send", type: "PING" };
    const { id } = await scribe.ask("POST", "/v1/bulk", request);
    const counts = { pending: 0, succeeded: MEMBERS, refused: 0, failed: 0, cancelled: 0 };
    scribe.becomes(`/v1/bulk/${String(id)}`, { state: "done", total: MEMBERS, counts });
    scribe.becomes("/v1/actors/count?family=member&state=pinged", { total: MEMBERS });
    scribe.becomes("/v1/actors/member-7", { seq: 2, stateValue: "pinged" });
  });
}

/** The receiver is out of order, so what is told at last waits. */
async function playWebhooks(scribe: Scribe): Promise<void> {
  const events = ["actor.state_changed", "actor.migrated", "approval.reminder"];
  const hook = await scribe.ask("POST", "/v1/webhooks", { url: `${OUTSIDE}/hook`, events });
  const path = `/v1/webhooks/${String(hook["id"])}`;
  scribe.reads(path);
  const bells = Array.from({ length: BELLS }, (_, n) => `bell-${n}`);
  for (const id of bells) await scribe.spawn("bell-v1", id);
  scribe.atLast(async () => {
    for (const id of bells) {
      const { seq } = await scribe.send(id, "RING");
      const { uid } = await scribe.until(`/v1/actors/${id}`, { seq: seq as number });
      scribe.manifest.messages.push(`${String(uid)}:${String(seq)}`);
    }
  });
  scribe.next("POST", `${path}/ping`, 202, undefined, { type: "ping" } satisfies JsonObject);
  scribe.next("DELETE", path, 204);
}
