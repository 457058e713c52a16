import { expect, test } from "vitest";
import { WaitingLine } from "../../src/tasks/waiting-line.ts";
import type { ClaimQuery } from "../../src/tasks/rpc.ts";

/** A line at a shop of so many tasks, each a number. */
function lineOf(stock: { tasks: number }) {
  return new WaitingLine({
    claim: ({ max }) => {
      const count = Math.min(max, stock.tasks);
      stock.tasks -= count;
      return Array.from({ length: count }, (_, n) => ({ n }));
    },
    readyAt: () => (stock.tasks > 0 ? 0 : null),
  });
}

const query = (more: Partial<ClaimQuery> = {}): ClaimQuery => ({
  tenant: "t",
  queue: "q",
  worker: "w",
  max: 1,
  waitMs: 60_000,
  leaseMs: null,
  present: () => true,
  ...more,
});

test("those who have gone get nothing and hold up nobody, however many there are", async () => {
  const stock = { tasks: 0 };
  const line = lineOf(stock);
  let asked = 0;
  const gone = Array.from({ length: 500 }, () =>
    line.take(
      query({
        present: () => {
          asked += 1;
          throw new Error("gone");
        },
      }),
    ),
  );
  const there = [line.take(query()), line.take(query())];
  expect(line.length).toBe(502);
  stock.tasks = 2;
  await line.serve();
  expect((await Promise.all(gone)).flat()).toEqual([]);
  expect((await Promise.all(there)).map(({ length }) => length)).toEqual([1, 1]);
  expect({ asked, waiting: line.length }).toEqual({ asked: 500, waiting: 0 });
});

test("one that hangs is given up, and the next one is served", async () => {
  const stock = { tasks: 0 };
  const line = lineOf(stock);
  const hanging = line.take(query({ present: () => new Promise<boolean>(() => {}) }));
  const next = line.take(query());
  stock.tasks = 1;
  await line.serve();
  expect(await hanging).toEqual([]);
  expect(await next).toHaveLength(1);
});

test("who comes while others are being served comes after them", async () => {
  const stock = { tasks: 0 };
  const line = lineOf(stock);
  const first = line.take(query());
  stock.tasks = 1;
  const serving = line.serve();
  const late = line.take(query({ waitMs: 0 }));
  await serving;
  expect(await first).toHaveLength(1);
  expect(await late).toEqual([]);
});

test("a task that comes while a pass ends is not left lying", async () => {
  const stock = { tasks: 0 };
  const line = lineOf(stock);
  const all = Array.from({ length: 50 }, () => line.take(query()));
  const serving = [];
  for (let n = 0; n < 50; n++) {
    stock.tasks += 1;
    serving.push(line.serve());
    if (n % 7 === 0) await serving.at(-1);
  }
  await Promise.all(serving);
  expect((await Promise.all(all)).every(({ length }) => length === 1)).toBe(true);
});
