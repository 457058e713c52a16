import { describe, expect, it } from "vitest";
import { notThereOnce } from "../crash/check.ts";
import { Documented } from "./documented.ts";
import { growths, leastShare, outOfOrder, slower } from "./laws.ts";
import type { Sample } from "./laws.ts";
import { Observed } from "./observed.ts";

/** A sample every 10 ms for 9 s, of which the last third is so many times the others. */
function course(factor: number): Sample[] {
  return Array.from({ length: 900 }, (_, n) => ({ at: n * 10, value: n < 600 ? 5 : 5 * factor }));
}

describe("the laws of a run under load", () => {
  it("see what becomes slower, but for what a busy machine does to everything", () => {
    const quiet = growths(
      new Map([
        ["event", course(3)],
        ["list", course(1.2)],
        ["health", course(1)],
        ["rare", course(9).slice(0, 610)],
      ]),
      0,
      9_000,
    );
    expect([...quiet]).toEqual([
      ["event", 3],
      ["list", 1.2],
      ["health", 1],
    ]);
    expect(slower(quiet, "health", 2.5)).toEqual(["event"]);
    expect(slower(new Map([...quiet, ["health", 2]]), "health", 2.5)).toEqual([]);
  });

  it("see an order that the answers do not allow", () => {
    const first = { seq: 2, sentAt: 0, answeredAt: 10 };
    const later = { seq: 3, sentAt: 11, answeredAt: 20 };
    const beside = { seq: 1, sentAt: 9, answeredAt: 30 };
    expect(outOfOrder([first, later, beside])).toBeNull();
    const swapped = [first, { ...later, seq: 1 }];
    expect(outOfOrder(swapped)).toEqual(swapped);
  });

  it("see who is left out", () => {
    expect(leastShare([0, 1, 2, 0, 1, 2], 3)).toBe(1);
    expect(leastShare([0, 1, 2, 0, 1, 1], 3)).toBe(0.5);
    expect(leastShare([0, 1, 0, 1], 3)).toBe(0);
  });

  it("see events that are lost, doubled or elsewhere", () => {
    const log = [
      { seq: 1, key: "a" },
      { seq: 2, key: "b" },
      { seq: 3, key: "b" },
    ];
    const acknowledged = [
      { key: "a", seq: 1 },
      { key: "b", seq: 2 },
      { key: "c", seq: 3 },
    ];
    expect(notThereOnce(log, acknowledged).map(({ key }) => key)).toEqual(["b", "c"]);
    expect(notThereOnce(log, [{ key: "a", seq: 2 }])).toHaveLength(1);
  });

  it("see refusals that are not documented, or that the request could not have", () => {
    const description = "`actor_not_found`: … `internal_error`: … `unavailable`: …";
    const responses = { 404: { description }, 500: { description }, 503: { description } };
    const documented = new Documented({ paths: { "/v1/actors/{id}": { get: { responses } } } });
    const wrongAfter = (status: number, code: string, expected: string[]) => {
      const observed = new Observed(documented);
      const reply = { status, body: { code }, sentAt: 0, answeredAt: 1 };
      observed.note("read", "GET", "/v1/actors/a?at=1", reply, expected);
      return observed.wrong.length;
    };
    expect(wrongAfter(404, "actor_not_found", ["actor_not_found"])).toBe(0);
    expect(wrongAfter(503, "unavailable", [])).toBe(0);
    expect(wrongAfter(404, "actor_not_found", [])).toBe(1);
    expect(wrongAfter(500, "internal_error", [])).toBe(1);
    expect(wrongAfter(409, "actor_exists", ["actor_exists"])).toBe(1);
  });
});
