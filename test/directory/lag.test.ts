import { expect, test } from "vitest";
import { Lag } from "../../src/directory/lag.ts";

test("the lag is that of the last minute, or a little more", () => {
  const lag = new Lag();
  const start = 1_000_000_000;
  lag.note(700, start);
  lag.note(-5, start);
  expect(lag.most(start + 59_000)).toBe(700);
  lag.note(30, start + 61_000);
  expect(lag.most(start + 100_000)).toBe(700);
  expect(lag.most(start + 121_000)).toBe(30);
  expect(lag.most(start + 300_000)).toBe(0);
});

test("a clock that steps back does not keep it for ever", () => {
  const lag = new Lag();
  lag.note(700, 2_000_000_000);
  expect(lag.most(1_000_000_000)).toBe(0);
  lag.note(30, 1_000_000_000);
  expect(lag.most(1_000_000_000 + 200_000)).toBe(0);
});
