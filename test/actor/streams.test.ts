import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { call, deployDoor, expectProblem, fresh, spawnOn } from "../support/api.ts";
import type { Body } from "../support/api.ts";
import { evict, objectOf, records, ringAlarm, sent, spawned } from "../support/actors.ts";
import {
  askForEvents,
  askForSocket,
  EventReader,
  range,
  SocketReader,
} from "../support/streams.ts";

afterEach(() => {
  vi.useRealTimers();
});

const counter = {
  initial: "on",
  context: { n: 0, text: "" },
  states: {
    on: {
      on: {
        ADD: {
          actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } },
        },
        WAIT: "waiting",
        END: "end",
      },
    },
    waiting: { after: { "1000": "on" } },
    end: { type: "final" },
  },
};

async function added(actorId: string, count: number, payload?: object): Promise<void> {
  for (let left = count; left > 0; left -= LIMITS.eventsPerBatch) {
    const events = range(1, Math.min(left, LIMITS.eventsPerBatch)).map(() => ({
      type: "ADD",
      ...(payload === undefined ? {} : { payload }),
    }));
    const answer = await call("POST", `/v1/actors/${actorId}/events/batch`, { body: { events } });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  }
}

async function openSockets(actorId: string): Promise<number> {
  return await runInDurableObject(
    objectOf(actorId),
    (_, state) => state.getWebSockets().filter(({ readyState }) => readyState === 1).length,
  );
}

async function eventually(check: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 2000; round += 1) {
    if (await check()) return;
    await new Promise((later) => setTimeout(later, 10));
  }
  throw new Error("It never came to be");
}

describe("a WebSocket", () => {
  test("is sent each record as the log shows it, from the next one on", async () => {
    const id = await spawned(counter);
    const reader = await SocketReader.open(id);
    await sent(id, "ADD", { a: "ü\n\u2028" });
    await sent(id, "NOTHING");
    await call("POST", `/v1/actors/${id}/pause`, { body: { reason: "why" } });
    await reader.until(3);
    const log = await records(id);
    expect(reader.texts.map((text) => JSON.parse(text))).toEqual(log.slice(1));
  });

  test("goes on after hibernation: what it was sent is remembered by it, and nothing else is", async () => {
    const id = await spawned(counter);
    const reader = await SocketReader.open(id, { after: 0 });
    for (const round of range(1, 5)) {
      await sent(id, "ADD");
      await reader.until(round + 1);
      await evictDurableObject(objectOf(id), { webSockets: "hibernate" });
    }
    await sent(id, "WAIT");
    await evictDurableObject(objectOf(id), { webSockets: "hibernate" });
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(Date.now() + 1000);
    await ringAlarm(id);
    await reader.until(8);
    expect(reader.seqs()).toEqual(range(1, 8));
  });

  test("holds nothing in its object that keeps it awake: neither timers nor promises, and pings wake nobody", async () => {
    const id = await spawned(counter);
    const reader = await SocketReader.open(id);
    await evictDurableObject(objectOf(id), { webSockets: "hibernate" });
    const pongs: unknown[] = [];
    reader.socket.addEventListener("message", ({ data }) => void pongs.push(data));
    for (const round of range(1, 20)) {
      reader.socket.send("ping");
      await eventually(async () => pongs.length === round);
    }
    expect(pongs).toEqual(range(1, 20).map(() => "pong"));
    // An object that is awake can be evicted, and one that is not cannot: the pings woke none.
    const again = await evictDurableObject(objectOf(id)).then(
      () => "was awake",
      () => "slept",
    );
    expect(again).toBe("slept");
    await sent(id, "ADD");
    await reader.until(21);
    expect(JSON.parse(reader.texts[20] as string).seq).toBe(2);
  });

  test("that lost its object ends, and the next one goes on", async () => {
    const id = await spawned(counter);
    const reader = await SocketReader.open(id, { after: 0 });
    await reader.until(1);
    await evictDurableObject(objectOf(id), { webSockets: "close" });
    await reader.closed;
    await sent(id, "ADD");
    const next = await SocketReader.open(id, { query: "?lastEventId=1" });
    await next.until(1);
    expect([...reader.seqs(), ...next.seqs()]).toEqual([1, 2]);
  });

  test("takes no messages", async () => {
    const id = await spawned(counter);
    for (const message of ["hello", "1000", "{}", new Uint8Array(100_000)]) {
      const reader = await SocketReader.open(id);
      reader.socket.send(message);
      expect(await reader.closed).toEqual({ code: 1003, reason: "this stream takes no messages" });
    }
    // Of one that was ended nothing is left in the actor's object.
    const all = () => runInDurableObject(objectOf(id), (_, state) => state.getWebSockets().length);
    await eventually(async () => (await all()) === 0);
    expect((await sent(id, "ADD")).status).toBe(200);
    expect(await records(id)).toHaveLength(2);
  });

  test("carries so many characters, then its client has to come again", async () => {
    const id = await spawned(counter);
    const big = { text: "x".repeat(1_000_000) };
    for (let n = 0; n < 13; n += 1) expect((await sent(id, "ADD", big)).status).toBe(200);
    const seqs: number[] = [1];
    for (let rounds = 1; (seqs.at(-1) as number) < 8; rounds += 1) {
      expect(rounds).toBeLessThan(4);
      const reader = await SocketReader.open(id, { after: seqs.at(-1) as number });
      expect(await reader.closed).toEqual({ code: 1013, reason: "resume after the last record" });
      const chars = reader.texts.reduce((sum, text) => sum + text.length, 0);
      expect(chars).toBeGreaterThanOrEqual(LIMITS.streamChars);
      expect(chars - (reader.texts.at(-1) as string).length).toBeLessThan(LIMITS.streamChars);
      seqs.push(...reader.seqs());
    }
    const last = await SocketReader.open(id, { after: seqs.at(-1) as number });
    await last.until(14 - (seqs.at(-1) as number));
    expect([...seqs, ...last.seqs()]).toEqual(range(1, 14));
  });

  test("whose time is up is sent nothing more", async () => {
    const id = await spawned(counter);
    const reader = await SocketReader.open(id);
    await sent(id, "ADD");
    await reader.until(1);
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(Date.now() + LIMITS.streamMs);
    await sent(id, "ADD");
    expect(await reader.closed).toEqual({ code: 1013, reason: "resume after the last record" });
    expect(reader.seqs()).toEqual([2]);
  });
});

describe("the end of an actor", () => {
  test("ends its streams after the last record", async () => {
    const id = await spawned(counter);
    const socket = await SocketReader.open(id, { after: 0 });
    const events = await EventReader.open(id, { after: 0 });
    await sent(id, "ADD");
    await sent(id, "END");
    expect(await socket.closed).toEqual({ code: 1000, reason: "finished" });
    expect(socket.seqs()).toEqual([1, 2, 3]);
    expect(await events.rest()).toEqual([1, 2, 3]);
  });

  test("leaves its log to be read, and nothing to wait for", async () => {
    const id = await spawned(counter);
    await added(id, 450);
    await call("POST", `/v1/actors/${id}/terminate`, { body: {} });
    const events = await EventReader.open(id, { after: 1 });
    expect(await events.rest()).toEqual(range(2, 452));
    for (const opening of [{ after: 452 }, {}]) {
      const answer = await call("GET", `/v1/actors/${id}/stream`, {
        headers: {
          Accept: "text/event-stream",
          ...("after" in opening ? { "Last-Event-ID": String(opening.after) } : {}),
        },
      });
      expect(answer.status).toBe(204);
    }
    const socket = await SocketReader.open(id);
    expect(await socket.closed).toEqual({ code: 1000, reason: "finished" });
    expect(socket.texts).toEqual([]);
  });

  test("by deletion ends them too, also when they slept; the next incarnation is not theirs", async () => {
    const definitionId = await deployDoor();
    const id = fresh("a");
    await call("POST", "/v1/actors", { body: { definitionId, id } });
    const socket = await SocketReader.open(id);
    const events = await EventReader.open(id);
    await evictDurableObject(objectOf(id), { webSockets: "hibernate" });
    expect((await call("DELETE", `/v1/actors/${id}`)).status).toBe(204);
    expect(await socket.closed).toEqual({ code: 4410, reason: "deleted" });
    expect(await events.rest()).toEqual([]);
    expect((await call("POST", "/v1/actors", { body: { definitionId, id } })).status).toBe(201);
    await sent(id, "OPEN");
    expect(socket.texts).toEqual([]);
    expect(await openSockets(id)).toBe(0);
  });
});

describe("a backlog", () => {
  test("of 10,000 records comes once, in order, with what is committed meanwhile", async () => {
    const id = await spawned(counter);
    await added(id, 10_000);
    const socket = await SocketReader.open(id, { after: 0 });
    const events = await EventReader.open(id, { after: 0 });
    const others = Promise.all(range(1, 50).map(() => sent(id, "ADD")));
    const seqs = await events.take(10_051);
    await socket.until(10_051);
    await others;
    expect(seqs).toEqual(range(1, 10_051));
    expect(socket.seqs()).toEqual(range(1, 10_051));
    await events.cancel();
  });

  test("waits in the log for a reader that does not read, and so does what comes then", async () => {
    const id = await spawned(counter);
    const text = "x".repeat(10_000);
    await added(id, 200, { text });
    const events = await EventReader.open(id, { after: 0 });
    expect(await events.take(1)).toEqual([1]);
    await added(id, 100, { text });
    // What is neither read nor granted was never sent.
    const before = await attachments(id);
    expect(before).toHaveLength(1);
    expect(before[0]?.sent).toBeLessThan(120);
    await evict(id);
    await added(id, 3, { text });
    expect(await events.take(303)).toEqual(range(2, 304));
    await added(id, 1);
    expect(await events.take(1)).toEqual([305]);
    await events.cancel();
  });

  interface Attachment {
    sent: number;
  }
  async function attachments(actorId: string): Promise<Attachment[]> {
    return await runInDurableObject(objectOf(actorId), (_, state) =>
      state.getWebSockets().map((socket) => socket.deserializeAttachment() as Attachment),
    );
  }
});

describe("a client", () => {
  /** Reads to the actor's end, over as many connections as it takes; `cut` ends the present one. */
  function follow(id: string, byEvents: boolean) {
    const seen: number[] = [];
    let cut = () => {};
    const connection = async (): Promise<boolean> => {
      const after = seen.at(-1) ?? 0;
      let open = true;
      if (byEvents) {
        const response = await askForEvents(id, { after });
        if (response.status === 204) return true;
        const reader = new EventReader(response);
        cut = () => {
          open = false;
          void reader.cancel();
        };
        for (;;) {
          const next = await reader.next();
          if (!open || next === null) return false;
          seen.push(next.seq);
        }
      }
      const reader = await SocketReader.open(id, { after });
      cut = () => {
        // What arrives after the cut did not arrive.
        if (open) seen.push(...reader.seqs());
        open = false;
        reader.socket.close(1000);
      };
      const { reason } = await reader.closed;
      cut();
      return reason === "finished";
    };
    const reading = (async () => {
      for (let n = 0; n < 200; n += 1) {
        if (await connection().catch(() => false)) return seen;
      }
      throw new Error("It never ended");
    })();
    return { reading, cut: () => cut() };
  }

  const steps = fc.array(
    fc.constantFrom("one", "many", "large", "sleep", "loss", "cut events", "cut socket"),
    { minLength: 5, maxLength: 20 },
  );

  test("sees each record once and in order, whatever is cut off, sleeps or gets lost when", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (plan) => {
        const id = await spawned(counter);
        const events = follow(id, true);
        const socket = follow(id, false);
        for (const step of plan) {
          if (step === "one") await sent(id, "ADD");
          if (step === "many") await added(id, 60, { text: "x".repeat(2_000) });
          if (step === "large") await sent(id, "ADD", { text: "x".repeat(400_000) });
          // One that sleeps already cannot be put to sleep.
          const lost = { webSockets: step === "loss" ? "close" : "hibernate" } as const;
          if (step === "sleep" || step === "loss") {
            await evictDurableObject(objectOf(id), lost).catch(() => {});
          }
          if (step === "cut events") events.cut();
          if (step === "cut socket") socket.cut();
        }
        await sent(id, "END");
        const log = (await call("GET", `/v1/actors/${id}`)).body as Body;
        const all = range(1, log.seq);
        expect(await events.reading).toEqual(all);
        expect(await socket.reading).toEqual(all);
      }),
      { numRuns: 8 },
    );
  });
});

describe("streams", () => {
  test("are so many of an actor, and one more is refused", async () => {
    const path = await spawnOn(await deployDoor());
    const id = path.split("/").at(-1) as string;
    const readers: SocketReader[] = [];
    for (let n = 0; n < LIMITS.streamsPerActor; n += 1) readers.push(await SocketReader.open(id));
    const refused = await call("GET", `${path}/stream`, { headers: { Upgrade: "websocket" } });
    expectProblem(refused, 429, "rate_limited");
    expect(refused.body.detail).toContain("1000");
    await sent(id, "OPEN");
    for (const reader of readers) await reader.until(1);
    expect(readers.every((reader) => reader.seqs()[0] === 2)).toBe(true);
    readers[0]?.socket.close(1000);
    await eventually(async () => (await openSockets(id)) < LIMITS.streamsPerActor);
    await SocketReader.open(id);
    expect((await askForSocket(id)).status).toBe(429);
    // Those whose time is up make room.
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(Date.now() + LIMITS.streamMs);
    await SocketReader.open(id);
    expect(await openSockets(id)).toBe(1);
  });

  test("whose reader goes away leave nothing behind", async () => {
    const id = await spawned(counter);
    const events = await EventReader.open(id);
    expect(await openSockets(id)).toBe(1);
    await events.cancel();
    await eventually(async () => (await openSockets(id)) === 0);
  });
});
