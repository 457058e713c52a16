import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { ask } from "../../scripts/old-data/exchange.ts";
import { fits } from "../../scripts/old-data/fits.ts";
import type { Answered } from "../../scripts/old-data/exchange.ts";
import type { Exchange } from "../../scripts/old-data/manifest.ts";
import { openOutside } from "../../scripts/old-data/outside.ts";
import type { Outside } from "../../scripts/old-data/outside.ts";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { until } from "../support/until.ts";
import { STEPS, backedUpAndRestored, open } from "./old-data/opened.ts";
import type { Opened } from "./old-data/opened.ts";

/** ms; what is due comes at once, on a busy machine too. */
const PATIENCE_MS = 60_000;

let outside: Outside;

beforeAll(async () => {
  outside = await openOutside(true);
});
afterAll(async () => outside?.close());

it("there is an archive of each step that was released", () => {
  expect(STEPS).toEqual(["1-actors", "2-fleet", "3-moves", "4-work"]);
});

describe.each(STEPS)("what the server of step %s left behind", (step) => {
  let opened: Opened;
  let server: RunningServer;
  let persistTo: string;

  beforeAll(async () => {
    opened = await open(step);
    persistTo = backedUpAndRestored(opened.data);
    server = await startServer({ persistTo });
  });
  afterAll(async () => {
    await server?.kill();
    opened?.remove();
  });

  async function restart(): Promise<void> {
    await server.kill();
    server = await startServer({ persistTo });
  }

  function expectAnswer(said: Answered, { method, path, status, answer }: Exchange): void {
    const about = `${method} ${path}: ${JSON.stringify(said.body)}`;
    expect(said.status, about).toBe(status);
    if (answer !== undefined) expect(said.body, about).toEqual(containing(answer));
  }

  async function expectSame(exchange: Exchange): Promise<Headers> {
    const said = await ask(server.url, exchange);
    expectAnswer(said, exchange);
    return said.headers;
  }

  /** Asks until it is so. */
  async function expectSoon(exchange: Exchange): Promise<void> {
    const { status, answer } = exchange;
    const said = await until(
      async () => ask(server.url, exchange),
      (said) => said.status === status && (answer === undefined || fits(said.body, answer)),
      PATIENCE_MS,
    );
    expectAnswer(said, exchange);
  }

  async function expectRepeat(exchange: Exchange): Promise<void> {
    const headers = await expectSame(exchange);
    expect(headers.get("Idempotent-Replayed"), exchange.path).toBe("true");
  }

  async function expectReplay(id: string): Promise<void> {
    const path = `/v1/actors/${id}`;
    const { body } = await ask(server.url, { method: "POST", path: `${path}/replay`, body: {} });
    expect(body, id).toMatchObject({ identical: true });
  }

  /** Except those that were deleted meanwhile. */
  function living(): string[] {
    const { actors, next } = opened.manifest;
    const deleted = next.filter(({ method }) => method === "DELETE").map(({ path }) => path);
    return actors.filter((id) => !deleted.includes(`/v1/actors/${id}`));
  }

  it("is read as it was", async () => {
    for (const read of opened.manifest.reads) await expectSame(read);
  });

  it("goes on: what was pending comes, once", async () => {
    for (const expected of opened.manifest.becomes) await expectSoon(expected);
    const { calls, messages } = opened.manifest;
    await expect
      .poll(() => outside.calls, { timeout: PATIENCE_MS })
      .toEqual(expect.arrayContaining(calls));
    const told = () => new Set(outside.messages.map((id) => id.slice(0, id.lastIndexOf(":"))));
    await expect
      .poll(() => [...told()], { timeout: PATIENCE_MS })
      .toEqual(expect.arrayContaining(messages));
  });

  it("is whole: each actor's log gives its snapshot, and an export has both", async () => {
    for (const id of opened.manifest.actors) {
      await expectReplay(id);
      const { body } = await ask(server.url, { method: "GET", path: `/v1/actors/${id}/export` });
      const { envelope, log } = body as { envelope: { seq: number }; log: JsonValue[] };
      expect(log, id).toHaveLength(envelope.seq);
    }
  });

  it("knows its keys", async () => {
    for (const repeat of opened.manifest.repeats) await expectRepeat(repeat);
  });

  it("is the same after a kill", async () => {
    await restart();
    for (const read of opened.manifest.reads) await expectSame(read);
    for (const expected of opened.manifest.becomes) await expectSoon(expected);
  });

  it("gives its tasks to workers", async () => {
    for (const [queue, ids] of Object.entries(opened.manifest.tasks)) {
      const path = `/v1/queues/${queue}/claim`;
      for (let claimed = 0; claimed < ids.length; claimed += 1) {
        const body = { worker: "w-2", waitMs: 50_000, leaseMs: 60_000 };
        const { body: answer } = await ask(server.url, { method: "POST", path, body });
        const { tasks } = answer as {
          tasks: { id: string; actorId: string; leaseToken: string }[];
        };
        const { id, actorId, leaseToken } = tasks[0]!;
        expect(ids).toContain(id);
        const result = { leaseToken, output: { pages: 4 } };
        const complete = `/v1/tasks/${encodeURIComponent(id)}/complete`;
        const key = `complete-${claimed}`;
        const done = await ask(server.url, { method: "POST", path: complete, key, body: result });
        expect(done.status, JSON.stringify(done.body)).toBe(200);
        const { body: actor } = await ask(server.url, {
          method: "GET",
          path: `/v1/actors/${actorId}`,
        });
        expect(actor).toMatchObject({ context: { got: { pages: 4 } } });
      }
    }
  });

  it("does what comes next, and keeps it through a kill", async () => {
    const { next } = opened.manifest;
    for (const exchange of next) {
      await (exchange.method === "GET" ? expectSoon(exchange) : expectSame(exchange));
    }
    await restart();
    const ofActor = next.filter(
      ({ path, status, key }) => key && status === 200 && /actors\/.*\/(events|resume)$/.test(path),
    );
    for (const exchange of ofActor) await expectRepeat(exchange);
    for (const id of living()) await expectReplay(id);
  });

  it("can be deleted, and is not listed then", async () => {
    for (const id of living()) {
      const { status, body } = await ask(server.url, {
        method: "DELETE",
        path: `/v1/actors/${id}`,
      });
      expect(status, `${id}: ${JSON.stringify(body)}\n${server.said()}`).toBe(204);
    }
    const family = "/v1/actors/count?family=loan";
    await expectSoon({ method: "GET", path: family, status: 200, answer: { total: 0 } });
  });
});

/** Matches what has all these members, at any depth, and lists that are as long. */
function containing(answer: JsonValue): unknown {
  if (Array.isArray(answer)) return answer.map(containing);
  if (typeof answer !== "object" || answer === null) return answer;
  const members = Object.entries(answer as JsonObject);
  return expect.objectContaining(
    Object.fromEntries(members.map(([name, value]) => [name, containing(value)])),
  );
}
