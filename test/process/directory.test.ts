import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { seeded } from "../support/seeded.ts";
import { until } from "../support/until.ts";
import { call } from "./client.ts";

const WRITERS = 8;
const ACTORS_OF_EACH = 5;
const KILLS = 3;
/** ms that writers write between two kills, at least. */
const WRITING_MS = 1_500;
/** ms; what a crash loses is made good by alarms within a minute; a busy machine takes longer. */
const QUIET_MS = 240_000;

const MACHINE = {
  id: "fleet",
  initial: "idle",
  states: {
    idle: {
      tags: ["resting"],
      on: {
        GO: "busy",
        WAIT: "waiting",
        REF: {
          actions: { type: "@perdure.setRef", name: "order", value: { "@expr": "event.order" } },
        },
      },
    },
    busy: { tags: ["working"], on: { GO: "idle" }, after: { 900: "idle" } },
    waiting: { on: { GO: "idle" }, after: { 3600000: "idle" } },
  },
};

// oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects to be there
type Body = any;

let folder: string;
let server: RunningServer;
const over = new AbortController();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perdure-directory-"));
  server = await startServer({ persistTo: folder });
});
afterAll(async () => {
  over.abort();
  await server?.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** An answer that never came is null. */
async function asked(method: string, path: string, body?: unknown): Promise<number | null> {
  try {
    return (await call(server.url, method, path, body)).status;
  } catch {
    return null;
  }
}

async function listed(query = ""): Promise<Body[]> {
  const items: Body[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const { status, body } = await call(server.url, "GET", `/v1/actors?limit=7${query}${cursor}`);
    expect(status, JSON.stringify(body)).toBe(200);
    items.push(...(body["items"] as Body[]));
    const next = body["nextCursor"] as string | null;
    cursor = next === null ? null : `&cursor=${encodeURIComponent(next)}`;
  }
  return items;
}

/** What lists say of an actor, of an actor itself; null when there is none. */
async function standing(id: string): Promise<Body> {
  const { status, body } = await call(server.url, "GET", `/v1/actors/${id}`);
  if (status === 404) return null;
  expect(status, JSON.stringify(body)).toBe(200);
  const timers = body["timers"] as Body[];
  return comparable({
    ...body,
    nextDueAt: body["status"] === "active" ? (timers[0]?.dueAt ?? null) : null,
  });
}

function comparable(of: Body): Body {
  const { id, uid, definitionId, family, stateValue, tags, status, done, refs } = of;
  const { nextDueAt, createdAt } = of;
  const attention = [...new Set(of.needsAttention.map(({ reason }: Body) => reason))];
  const what = { id, uid, definitionId, family, stateValue, tags, status, done, refs };
  return { ...what, nextDueAt, createdAt, attention };
}

const seed = Math.floor(Math.random() * 2 ** 31);

it(
  `after kills under load every actor equals its entry, and nobody else is listed (seed ${seed})`,
  async () => {
    await call(server.url, "PUT", "/v1/definitions", { id: "fleet-v1", definition: MACHINE });
    const random = Array.from({ length: WRITERS }, (_, n) => seeded(seed + n));
    /** Who lives as far as its writer knows, and those whose spawn was acknowledged and deletion not asked for. */
    const living = new Set<string>();
    const promised = new Set<string>();
    const touched = new Set<string>();
    let acknowledged = 0;

    const act = async (writer: number): Promise<void> => {
      const draw = random[writer]!;
      const id = `a${writer}-${Math.floor(draw() * ACTORS_OF_EACH)}`;
      const path = `/v1/actors/${id}`;
      const order = String(Math.floor(draw() * 10));
      touched.add(id);
      if (!living.has(id)) {
        const spawn = { definitionId: "fleet-v1", id, refs: { writer: String(writer) } };
        const status = await asked("POST", "/v1/actors", spawn);
        if (status === 201 || status === 409) living.add(id);
        if (status !== 201) return;
        promised.add(id);
        acknowledged += 1;
        return;
      }
      const dice = draw();
      if (dice < 0.12) {
        living.delete(id);
        promised.delete(id);
        await asked("DELETE", path);
      } else if (dice < 0.3) await asked("PATCH", path, { refs: { order, [`x${order}`]: "1" } });
      else if (dice < 0.4) await asked("POST", `${path}/pause`, {});
      else if (dice < 0.5) await asked("POST", `${path}/resume`, {});
      else {
        const type = dice < 0.6 ? "WAIT" : dice < 0.75 ? "REF" : "GO";
        await asked("POST", `${path}/events`, { type, payload: { order } });
      }
    };

    for (let round = 0; round < KILLS; round += 1) {
      const killed = new AbortController();
      const begun = acknowledged;
      const writers = Array.from({ length: WRITERS }, async (_, writer) => {
        while (!killed.signal.aborted && !over.signal.aborted) await act(writer);
      });
      await new Promise((resolve) => setTimeout(resolve, WRITING_MS));
      await until(
        async () => acknowledged,
        (now) => now >= begun + 3,
        60_000,
      );
      await server.kill();
      killed.abort();
      await Promise.all(writers);
      server = await startServer({ persistTo: folder });
      // Whose spawn was acknowledged is listed at once; what is said of it may be from before.
      const known = new Set((await listed()).map(({ id }) => id));
      expect([...promised].filter((id) => !known.has(id))).toEqual([]);
    }

    const differences = async (): Promise<Body[]> => {
      const entries = new Map((await listed()).map((one) => [one.id, comparable(one)]));
      const unequal: Body[] = [];
      for (const id of touched) {
        const [actor, entry] = [await standing(id), entries.get(id) ?? null];
        if (!isDeepStrictEqual(actor, entry)) unequal.push({ actor, entry });
        entries.delete(id);
      }
      return [...unequal, ...[...entries.values()].map((entry) => ({ actor: null, entry }))];
    };
    expect(await until(differences, (some) => some.length === 0, QUIET_MS)).toEqual([]);

    // Nobody is found by a reference that it has not, and everybody by those that it has.
    const entries = await listed();
    const byRef = async (): Promise<Body[]> => {
      const wrong: Body[] = [];
      const names = ["writer", "order", ...Array.from({ length: 10 }, (_, n) => `x${n}`)];
      for (const name of names) {
        for (let n = 0; n < 10; n += 1) {
          const found = (await listed(`&ref.${name}=${n}`)).map(({ id }) => id).toSorted();
          const having = entries.filter(({ refs }) => refs[name] === String(n));
          const wanted = having.map(({ id }) => id).toSorted();
          if (found.join() !== wanted.join()) wrong.push({ name, n, found, wanted });
        }
      }
      return wrong;
    };
    expect(await until(byRef, (some) => some.length === 0, QUIET_MS)).toEqual([]);
    const { body } = await call(server.url, "GET", "/v1/actors/count");
    expect(body["total"]).toBe(entries.length);
    expect(entries.length).toBeGreaterThan(0);
  },
  60_000 * KILLS + 2 * QUIET_MS,
);
