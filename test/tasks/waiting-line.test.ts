import { expect, test, vi } from "vitest";
import { WaitingLine } from "../../src/tasks/waiting-line.ts";
import type { ClaimQuery } from "../../src/tasks/rpc.ts";
import { silence } from "../support/silence.ts";

/** A line at a shop of so many tasks, each a number. */
function lineOf(stock: { tasks: number }) {
  return new WaitingLine({
    claim: ({ max }) => {
      const count = Math.min(max, stock.tasks);
      stock.tasks -= count;
      return Array.from({ length: count }, (_, n) => ({ n }));
    },
    readyAt: () => (stock.tasks > 0 ? 0 : null),
    ready: (_, most) => Math.min(stock.tasks, most),
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

test("who cannot be let into the line is not in it", async () => {
  const broken = () => {
    throw new Error("the disk is full");
  };
  const line = new WaitingLine({ claim: () => [], readyAt: broken, ready: () => 0 });
  await expect(line.take(query())).rejects.toThrow("the disk is full");
  expect(line.length).toBe(0);
});

test("who cannot be let into the line takes nothing from those in it: they are served when it is time", async () => {
  const stock = { tasks: 0, broken: false };
  const line = new WaitingLine({
    claim: () => (stock.tasks === 0 ? [] : [{ n: 1 }]),
    readyAt: () => {
      if (stock.broken) throw new Error("the disk is full");
      return Date.now() + 20;
    },
    ready: (_, most) => Math.min(stock.tasks, most),
  });
  const waiting = line.take(query());
  stock.broken = true;
  await expect(line.take(query())).rejects.toThrow("the disk is full");
  Object.assign(stock, { tasks: 1, broken: false });
  expect(await waiting).toEqual([{ n: 1 }]);
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

test("as many are asked at once whether they are still there as there are tasks", async () => {
  const stock = { tasks: 0 };
  const line = lineOf(stock);
  let [asked, most] = [0, 0];
  const present = async () => {
    most = Math.max(most, (asked += 1));
    await Promise.resolve();
    asked -= 1;
    return true;
  };
  const all = Array.from({ length: 40 }, () => line.take(query({ present })));
  stock.tasks = 10;
  await line.serve();
  expect(most).toBe(10);
  expect((await Promise.all(all.slice(0, 10))).map(({ length }) => length)).toEqual(
    Array.from({ length: 10 }, () => 1),
  );
  expect(line.length).toBe(30);
});

test("who comes to wait while others are being served is in the line at once", async () => {
  const stock = { tasks: 0 };
  const line = lineOf(stock);
  const first = line.take(query());
  stock.tasks = 2;
  const serving = line.serve();
  const second = line.take(query());
  expect(line.length).toBe(2);
  await serving;
  expect((await Promise.all([first, second])).map(({ length }) => length)).toEqual([1, 1]);
});

test("a failure leaves those who wait where they are, and they are served later", async () => {
  silence();
  const stock = { tasks: 0, broken: false };
  const line = new WaitingLine({
    claim: () => {
      if (stock.broken) throw new Error("The disk is full.");
      return stock.tasks === 0 ? [] : [{ n: 1 }];
    },
    readyAt: () => {
      if (stock.broken) throw new Error("The disk is full.");
      return stock.tasks > 0 ? 0 : null;
    },
    ready: (_, most) => Math.min(stock.tasks, most),
  });
  const waiting = line.take(query());
  Object.assign(stock, { tasks: 1, broken: true });
  await line.serve();
  expect(line.length).toBe(1);
  stock.broken = false;
  expect(await waiting).toEqual([{ n: 1 }]);
  vi.restoreAllMocks();
});
