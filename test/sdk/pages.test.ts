import { describe, expect, it } from "vitest";
import { createClient } from "../../src/sdk/index.ts";
import { answer, drop, problem, scriptedServer, unavailable } from "./scripted-server.ts";
import type { Act, Heard } from "./scripted-server.ts";

/** A list of `total` records in pages of two. */
const listOf =
  (total: number): Act =>
  (response, heard: Heard) => {
    const query = new URL(heard.url, "http://server").searchParams;
    const from = Number(query.get("cursor")?.slice(1) ?? 0);
    const items = Array.from({ length: Math.min(2, total - from) }, (_, index) => ({
      seq: from + index + 1,
    }));
    const nextCursor = from + 2 < total ? `c${from + 2}` : null;
    answer(200, { items, nextCursor, asOf: "2026-01-01T00:00:00.000Z" })(response, heard);
  };

async function setUp(...script: [Act, ...Act[]]) {
  const { baseUrl, heard } = await scriptedServer(...script);
  const retry = { attempts: 4, baseMs: 1, maxMs: 10 };
  return { client: createClient({ baseUrl, apiKey: "dev", retry }), heard };
}

async function seqs(items: AsyncIterable<{ seq: number }>): Promise<number[]> {
  const all: number[] = [];
  for await (const { seq } of items) all.push(seq);
  return all;
}

describe("a list", () => {
  it.each([0, 1, 2, 3, 5])("of %i items is iterated to its end, page by page", async (total) => {
    const { client, heard } = await setUp(listOf(total));
    const expected = Array.from({ length: total }, (_, index) => index + 1);
    expect(await seqs(client.events("a"))).toEqual(expected);
    expect(heard).toHaveLength(Math.max(1, Math.ceil(total / 2)));
  });

  it("asks for no page before it is needed", async () => {
    const { client, heard } = await setUp(listOf(5));
    const records = client.events("a");
    expect(heard).toHaveLength(0);
    for await (const { seq } of records) if (seq === 2) break;
    expect(heard).toHaveLength(1);
  });

  it("starts again in a second loop", async () => {
    const { client } = await setUp(listOf(3));
    const records = client.events("a");
    expect(await seqs(records)).toEqual([1, 2, 3]);
    expect(await seqs(records)).toEqual([1, 2, 3]);
  });

  it("goes on where it was after a page that failed", async () => {
    const { client, heard } = await setUp(listOf(5), drop, listOf(5), unavailable, listOf(5));
    expect(await seqs(client.events("a"))).toEqual([1, 2, 3, 4, 5]);
    expect(heard).toHaveLength(5);
  });

  it("sends its filters with every page, and `after` with the first only", async () => {
    const { client, heard } = await setUp(listOf(3));
    await seqs(client.events("a", { after: 7, kind: "event", limit: 2 }));
    expect(heard.map(({ url }) => url)).toEqual([
      "/v1/actors/a/events?after=7&kind=event&limit=2",
      "/v1/actors/a/events?cursor=c2&kind=event&limit=2",
    ]);
  });

  it("ends with the error of a page that cannot be had", async () => {
    const { client } = await setUp(listOf(3), problem(400, "cursor_invalid"));
    await expect(seqs(client.events("a"))).rejects.toMatchObject({ code: "cursor_invalid" });
  });

  it("is not read for ever when the cursor stays the same", async () => {
    const { client, heard } = await setUp(answer(200, { items: [{ seq: 1 }], nextCursor: "c" }));
    await expect(seqs(client.events("a"))).rejects.toThrow("does not go on");
    expect(heard).toHaveLength(2);
  });
});
