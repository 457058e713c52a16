import type { JsonObject } from "../../src/base/json.ts";
import { FAR_MS } from "./machines.ts";
import { OUTSIDE } from "./outside.ts";
import type { Scribe } from "./scribe.ts";

/** As often as it may, so that none of it is over when the archive is read. */
const PATIENT = { maxAttempts: 100, initialMs: 1_000, maxMs: 2_000 };

const post = (path: string, more: JsonObject = {}): JsonObject => ({
  src: "http",
  input: { method: "POST", url: OUTSIDE + path, body: { of: { "@expr": "self.id" } }, ...more },
});

const CALLER = {
  id: "caller",
  initial: "calling",
  context: { path: { "@expr": "input.path" }, got: null },
  states: {
    calling: {
      invoke: {
        id: "call",
        src: "http",
        input: { url: { "@expr": `"${OUTSIDE}" + context.path` }, retry: PATIENT },
        onDone: {
          target: "called",
          actions: {
            type: "@xstate.assign",
            context: { got: { "@expr": "event.output.status" } },
          },
        },
      },
    },
    called: { on: { AGAIN: "calling" } },
  },
};

/** The second step is refused; what undoes the first is out of order. */
const ORDER = {
  id: "order",
  initial: "charging",
  states: {
    charging: {
      invoke: {
        id: "charge",
        ...post("/charge"),
        compensate: post("/later/refund", { retry: PATIENT }),
        onDone: "reserving",
      },
    },
    reserving: {
      invoke: { id: "reserve", ...post("/no/reserve"), onDone: "sold", onError: "undoing" },
    },
    undoing: { invoke: { id: "undo", src: "compensate", onDone: "undone" } },
    sold: {},
    undone: {},
  },
};

const JOB = {
  id: "job",
  initial: "scanning",
  context: { got: null },
  states: {
    scanning: {
      invoke: {
        id: "scan",
        src: "task",
        input: {
          queue: "scans",
          title: "Scan it",
          input: { of: { "@expr": "self.id" } },
          leaseMs: 1_000,
          unclaimedMs: FAR_MS,
          retry: PATIENT,
        },
        onDone: {
          target: "asking",
          actions: { type: "@xstate.assign", context: { got: { "@expr": "event.output" } } },
        },
      },
    },
    asking: {
      invoke: {
        id: "ask",
        src: "approval",
        input: {
          assignee: "ann",
          title: { "@expr": '"Release " + self.id' },
          reminders: [{ afterMs: FAR_MS / 4, repeatMs: FAR_MS / 4, max: 2 }],
          escalate: [{ afterMs: FAR_MS, to: "bob" }],
          expiresMs: FAR_MS * 1.5,
        },
        onDone: [
          { guard: { "@expr": "event.output.approved" }, target: "released" },
          { target: "refused" },
        ],
      },
    },
    released: { type: "final" },
    refused: {},
  },
};

const KID = {
  id: "kid",
  initial: "at_work",
  context: { n: { "@expr": "input" } },
  output: { n: { "@expr": "context.n" } },
  states: {
    at_work: {
      on: {
        END: "done",
        TELL: {
          actions: { type: "@xstate.sendTo", to: "#_parent", event: { type: "TOLD" } },
        },
      },
    },
    done: { type: "final" },
  },
};
const PARENT = {
  id: "parent",
  initial: "waiting",
  context: { told: 0, got: null },
  on: {
    TOLD: {
      actions: { type: "@xstate.assign", context: { told: { "@expr": "context.told + 1" } } },
    },
    WRITE: { actions: { type: "@xstate.sendTo", to: "nobody", event: { type: "HELLO" } } },
  },
  states: {
    waiting: {
      invoke: {
        id: "kids",
        src: "actor",
        input: { definitionId: "kid-v1", id: "kid", forEach: [1, 2, 3] },
        onDone: {
          target: "joined",
          actions: { type: "@xstate.assign", context: { got: { "@expr": "event.output" } } },
        },
      },
    },
    joined: {},
  },
};

/** What the fourth step could do: work outside, tasks, approvals, children, messages. */
export async function playWork(scribe: Scribe): Promise<void> {
  for (const definition of [CALLER, ORDER, JOB, KID, PARENT]) {
    await scribe.deploy(`${definition.id}-v1`, definition);
  }
  await playCalls(scribe);
  await playJobs(scribe);
  await playChildren(scribe);
}

async function playCalls(scribe: Scribe): Promise<void> {
  await scribe.spawn("caller-v1", "call-fine", { input: { path: "/fine" } });
  await scribe.spawn("caller-v1", "call-refused", { input: { path: "/no" } });
  await scribe.spawn("caller-v1", "call-waits", { input: { path: "/later" } });
  await scribe.spawn("order-v1", "order");
  await scribe.until("/v1/actors/call-fine", { stateValue: "called" });
  await scribe.until("/v1/actors/call-refused", { activities: [{ status: "failed" }] });
  await scribe.until("/v1/actors/call-waits", { activities: [{ status: "retrying" }] });
  await scribe.until("/v1/actors/order", { stateValue: "undoing" });
  scribe.rests("call-fine", "call-refused");
  scribe.reads("/v1/actors?family=caller&attention=activity_failed");

  const { activities } = await scribe.until("/v1/actors/call-waits", {});
  scribe.manifest.calls.push((activities as { key: string }[])[0]?.key ?? "");
  scribe.becomes("/v1/actors/call-waits", { seq: 2, stateValue: "called", context: { got: 200 } });
  scribe.becomes("/v1/actors/order", { stateValue: "undone" });
  scribe.next("POST", "/v1/actors/call-refused/retry", 200, { activityId: "call" });
  scribe.nextRead("/v1/actors/call-refused", { stateValue: "called", context: { got: 200 } });
  scribe.next("POST", "/v1/actors/call-fine/events", 200, { type: "AGAIN" });
  scribe.nextRead("/v1/actors/call-fine", { stateValue: "called", seq: 4 });
}

/** One at each stage: open, claimed, waiting for a person, reminded, refused, released. */
async function playJobs(scribe: Scribe): Promise<void> {
  const jobs = ["job-released", "job-refused", "job-reminded", "job-asking", "job-claimed"];
  for (const id of jobs) {
    await scribe.spawn("job-v1", id);
    const claim = { worker: "w-1", waitMs: 10_000 };
    const { tasks } = await scribe.ask("POST", "/v1/queues/scans/claim", claim);
    const [task] = tasks as { id: string; leaseToken: string }[];
    const path = `/v1/tasks/${encodeURIComponent(String(task?.id))}`;
    if (id === "job-claimed") {
      scribe.manifest.tasks["scans"] = [String(task?.id)];
      continue;
    }
    const result = { leaseToken: String(task?.leaseToken), output: { pages: 3 } };
    await scribe.ask("POST", `${path}/complete`, result);
  }
  await scribe.spawn("job-v1", "job-open");
  const approvals = "/v1/tasks?kind=approval&status=open";
  const { items } = await scribe.until(approvals, { items: [{}, {}, {}, {}] });
  const pathOf = (id: string) => {
    const task = (items as { actorId: string; id: string }[]).find(({ actorId }) => actorId === id);
    return `/v1/tasks/${encodeURIComponent(String(task?.id))}`;
  };
  for (const id of ["job-released", "job-refused"]) {
    const decision = { approved: id === "job-released", by: "ann" };
    await scribe.ask("POST", `${pathOf(id)}/decide`, decision);
  }
  await scribe.ask("POST", "/v1/actors/job-reminded/clock/advance", { ms: FAR_MS / 4 });
  await scribe.ask("PATCH", pathOf("job-asking"), { assignee: "eve", by: "ann" });
  scribe.rests("job-released", "job-refused", "job-reminded", "job-asking");
  scribe.reads(pathOf("job-asking"), "/v1/tasks?kind=approval&assignee=eve");

  const { items: open } = await scribe.until("/v1/tasks?kind=task&actorId=job-open", {
    items: [{}],
  });
  const [task] = open as { id: string }[];
  scribe.manifest.tasks["scans"]?.push(String(task?.id));
  const decide = { approved: true, by: "eve" };
  scribe.next("POST", `${pathOf("job-asking")}/decide`, 200, decide);
  scribe.nextRead("/v1/actors/job-asking", { status: "done", stateValue: "released" });
  scribe.next("POST", "/v1/actors/job-reminded/clock/advance", 200, { ms: FAR_MS });
  scribe.nextRead("/v1/actors/job-reminded/events?kind=escalated", { items: [{}] });
}

async function playChildren(scribe: Scribe): Promise<void> {
  await scribe.spawn("parent-v1", "parent");
  for (const id of ["kid.0", "kid.1", "kid.2"]) {
    await scribe.until(`/v1/actors/${id}`, { stateValue: "at_work" });
    scribe.manifest.actors.push(id);
  }
  await scribe.send("kid.1", "TELL");
  await scribe.send("kid.0", "END");
  await scribe.send("parent", "WRITE");
  await scribe.until("/v1/actors/parent", { context: { told: 1 }, needsAttention: [{}] });
  scribe.rests("parent", "kid.0", "kid.1", "kid.2");

  scribe.next("POST", "/v1/actors/kid.1/events", 200, { type: "TELL" });
  scribe.next("POST", "/v1/actors/kid.1/events", 200, { type: "END" }, { handled: true });
  scribe.next("POST", "/v1/actors/kid.2/events", 200, { type: "END" }, { handled: true });
  scribe.nextRead("/v1/actors/parent", {
    stateValue: "joined",
    context: { told: 2, got: [{ output: { n: 1 } }, { output: { n: 2 } }, { output: { n: 3 } }] },
  });
}
