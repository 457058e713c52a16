import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startOutside } from "../../examples/outside/server.ts";
import type { Outside } from "../../examples/outside/server.ts";

let folder: string;
let keep: string;
let outside: Outside;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perdure-services-"));
  keep = join(folder, "effects.jsonl");
  outside = await startOutside({ keep });
});
afterAll(() => {
  outside?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function charge(key: string, amount = 5, signal?: AbortSignal) {
  const response = await fetch(`${outside.url}/payment/charge`, {
    method: "POST",
    headers: { "Idempotency-Key": key },
    body: JSON.stringify({ orderId: "order-1", amount }),
    ...(signal && { signal }),
  });
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, body };
}

function chargesOf(key: string): number {
  return outside.receiver.effects.filter((effect) => effect.key === key).length;
}

describe("the services of the examples", () => {
  it("act once for a key, bare or in quotes, and remember it across a restart", async () => {
    const first = await charge("once");
    expect(first).toMatchObject({ status: 200, body: { amount: 5 } });
    expect(await charge('"once"')).toEqual(first);
    expect(await charge("once", 6)).toMatchObject({ status: 422, body: { code: "key_reused" } });
    expect(outside.receiver.callsOf("once")).toBe(3);
    outside.stop();
    outside = await startOutside({ keep });
    expect(await charge("once")).toEqual(first);
    expect(chargesOf("once")).toBe(1);
  });

  it("refuse without an effect, so that the key can be used again", async () => {
    expect(await charge("refused", 20_000)).toMatchObject({ status: 402 });
    expect(await charge("refused", 2)).toMatchObject({ status: 200 });
  });

  it("say what is wrong with a request", async () => {
    const send = async (path: string, body: string) => {
      const response = await fetch(`${outside.url}/${path}`, { method: "POST", body });
      return response.status;
    };
    expect(await send("payment/charge", "{}")).toBe(400);
    expect(await send("nothing/here", "{}")).toBe(404);
    expect(await send("faults", '{"service": "mail/send", "what": "explode"}')).toBe(400);
  });

  it("misbehave as they are told, before or after they act, and then work again", async () => {
    const service = "payment/charge";
    outside.plan({ service, what: "fail", status: 429 });
    expect(await charge("fail")).toMatchObject({ status: 429 });
    expect(chargesOf("fail")).toBe(0);

    outside.plan({ service, what: "drop" });
    await expect(charge("drop")).rejects.toThrow();
    expect(chargesOf("drop")).toBe(0);

    outside.plan({ service, what: "close" });
    await expect(charge("close")).rejects.toThrow();
    expect(chargesOf("close")).toBe(1);

    outside.plan({ service, what: "hang" });
    await expect(charge("hang", 5, AbortSignal.timeout(2_000))).rejects.toThrow();
    expect(chargesOf("hang")).toBe(1);

    outside.plan({ service, what: "late", ms: 200 });
    const asked = performance.now();
    expect(await charge("late")).toMatchObject({ status: 200 });
    expect(performance.now() - asked).toBeGreaterThan(150);

    outside.plan({ service, what: "twice" });
    expect(await charge("twice")).toMatchObject({ status: 200, body: { amount: 5 } });
    for (const key of ["fail", "drop", "close", "hang", "late", "twice"]) {
      expect(await charge(key)).toMatchObject({ status: 200, body: { amount: 5 } });
      expect(chargesOf(key)).toBe(1);
    }
  });
});
