import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { createClient, PerdureError } from "../../src/sdk/index.ts";
import type { LogRecord } from "../../src/sdk/index.ts";
import {
  answer,
  deafAddress,
  drop,
  hang,
  problem,
  scriptedServer,
  unavailable,
} from "./scripted-server.ts";
import type { Act } from "./scripted-server.ts";

const retry = { attempts: 3, baseMs: 1, maxMs: 10 };

const event = (seq: number) => `id: ${seq}\ndata: {"seq":${seq}}\n\n`;

function begin(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
}

/** An answer that ends in order, or is cut. */
const stream =
  (text: string, how: "end" | "cut" | "stay" = "end"): Act =>
  (response) => {
    begin(response);
    response.write(text, () => {
      if (how === "end") response.end();
      if (how === "cut") setTimeout(() => response.destroy(), 20);
    });
  };

const nothing = (response: ServerResponse) => void response.writeHead(204).end();

async function seqs(records: AsyncIterable<LogRecord>): Promise<number[]> {
  const all: number[] = [];
  for await (const { seq } of records) all.push(seq);
  return all;
}

const client = (baseUrl: string, more: object = {}) =>
  createClient({ baseUrl, apiKey: "a-key-that-is-secret", retry, ...more });

describe("a subscription", () => {
  it("goes on after the last record until the server says that there is nothing more", async () => {
    const { baseUrl, heard } = await scriptedServer(
      stream(event(5) + event(6), "cut"),
      stream("id: 6\n\n:\n\n"),
      unavailable,
      drop,
      stream("id: 6\n\n" + event(7)),
      nothing,
    );
    expect(await seqs(client(baseUrl).subscribe("a", { after: 4 }))).toEqual([5, 6, 7]);
    expect(heard.map(({ headers }) => headers["last-event-id"])).toEqual([
      "4",
      "6",
      "6",
      "6",
      "6",
      "7",
    ]);
    for (const { method, url, headers } of heard) {
      expect({ method, url, accept: headers.accept }).toEqual({
        method: "GET",
        url: "/v1/actors/a/stream",
        accept: "text/event-stream",
      });
      expect(headers.authorization).toBe("Bearer a-key-that-is-secret");
    }
  });

  it("that begins now remembers where that was", async () => {
    const { baseUrl, heard } = await scriptedServer(
      stream("id: 41\n\n", "cut"),
      stream(event(42)),
      nothing,
    );
    expect(await seqs(client(baseUrl).subscribe("a"))).toEqual([42]);
    expect(heard.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "41", "42"]);
  });

  it("fails as other calls do: at once where it was refused, else after so many attempts", async () => {
    const gone = await scriptedServer(problem(404, "actor_not_found"));
    await expect(seqs(client(gone.baseUrl).subscribe("a"))).rejects.toMatchObject({
      name: "PerdureError",
      code: "actor_not_found",
      status: 404,
    });
    expect(gone.heard).toHaveLength(1);
    const busy = await scriptedServer(unavailable);
    await expect(seqs(client(busy.baseUrl).subscribe("a"))).rejects.toMatchObject({ status: 503 });
    expect(busy.heard).toHaveLength(3);
    const deaf = client(await deafAddress()).subscribe("a");
    await expect(seqs(deaf)).rejects.toMatchObject({ code: "network_error" });
    const cut = await scriptedServer(stream("id: 1\n\n", "cut"));
    await expect(seqs(client(cut.baseUrl).subscribe("a"))).rejects.toBeInstanceOf(PerdureError);
    expect(cut.heard).toHaveLength(3);
    const silent = await scriptedServer(hang);
    const slow = client(silent.baseUrl).subscribe("a", { timeoutMs: 30 });
    await expect(seqs(slow)).rejects.toMatchObject({ code: "timeout" });
  });

  it("does not take for a stream what is none", async () => {
    for (const act of [answer(200, { items: [] }), stream("id: 1\ndata: {\n\n")]) {
      const { baseUrl, heard } = await scriptedServer(act);
      await expect(seqs(client(baseUrl).subscribe("a"))).rejects.toMatchObject({
        code: "unexpected_answer",
      });
      expect(heard).toHaveLength(1);
    }
    const bodiless = client("http://perdure.test", {
      fetch: async () => ({
        status: 200,
        headers: new Headers({ "content-type": "text/event-stream" }),
        text: async () => "",
      }),
    });
    await expect(seqs(bodiless.subscribe("a"))).rejects.toMatchObject({
      code: "unexpected_answer",
    });
  });

  it("tells the key to nobody, also where the server repeats it", async () => {
    const echo: Act = (response, { headers }) =>
      problem(401, "unauthorized", { detail: `Who is ${headers.authorization}?` })(
        response,
        {} as never,
      );
    const { baseUrl } = await scriptedServer(echo);
    const error = await seqs(client(baseUrl).subscribe("a")).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "unauthorized" });
    expect(JSON.stringify(error) + String(error)).not.toContain("a-key-that-is-secret");
  });

  it("lets go of its connection when the loop is left, also while it waits", async () => {
    const left: string[] = [];
    const watched =
      (name: string): Act =>
      (response) => {
        response.once("close", () => left.push(name));
        stream(event(1), "stay")(response, {} as never);
      };
    const { baseUrl } = await scriptedServer(
      watched("broken off"),
      watched("returned"),
      watched("aborted"),
    );
    const perdure = client(baseUrl);
    for await (const _ of perdure.subscribe("a", { after: 0 })) break;

    const iterator = perdure.subscribe("a", { after: 0 })[Symbol.asyncIterator]();
    expect((await iterator.next()).value.seq).toBe(1);
    const waiting = iterator.next();
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    expect(await waiting).toEqual({ done: true, value: undefined });

    const ending = new AbortController();
    const aborted = perdure.subscribe("a", { after: 0, signal: ending.signal });
    const got: number[] = [];
    for await (const { seq } of aborted) {
      got.push(seq);
      setTimeout(() => ending.abort(), 10);
    }
    expect(got).toEqual([1]);
    expect(await seqs(aborted)).toEqual([]);
    for (let round = 0; left.length < 3 && round < 1000; round += 1) {
      await new Promise((later) => setTimeout(later, 5));
    }
    expect(left).toEqual(["broken off", "returned", "aborted"]);
  });

  it("of one incarnation says so on every connection", async () => {
    const { baseUrl, heard } = await scriptedServer(stream(event(1), "cut"), nothing);
    const uid = "0".repeat(32);
    expect(await seqs(client(baseUrl).subscribe("a", { after: 0, uid }))).toEqual([1]);
    const path = `/v1/actors/a/stream?uid=${uid}`;
    expect(heard.map(({ url }) => url)).toEqual([path, path]);
  });

  it("refuses what is no seq", () => {
    for (const after of [-1, 1.5, Number.NaN]) {
      expect(() => client("http://127.0.0.1:1").subscribe("a", { after })).toThrow(RangeError);
    }
  });
});

it("a stream's token is asked for again where that does no harm", async () => {
  const token = { token: "pst_x", expiresAt: "2030-01-01T00:00:00.000Z" };
  const { baseUrl, heard } = await scriptedServer(unavailable, answer(201, token));
  expect(await client(baseUrl).streamToken("a")).toEqual(token);
  expect(heard.map(({ method, url }) => `${method} ${url}`)).toEqual([
    "POST /v1/actors/a/stream-token",
    "POST /v1/actors/a/stream-token",
  ]);
});
