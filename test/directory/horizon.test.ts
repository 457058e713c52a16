import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Horizon } from "../../src/directory/horizon.ts";

test("the horizon knows the soonest due time of all, or that it has to read", () => {
  const changes = fc.array(fc.record({ id: fc.nat(30), due: fc.option(fc.nat(50)) }), {
    maxLength: 200,
  });
  fc.assert(
    fc.property(changes, fc.integer({ min: 1, max: 5 }), (list, size) => {
      const all = new Map<string, number>();
      const stored = () => [...all].map(([id, due]) => ({ id, due })).sort((a, b) => a.due - b.due);
      const horizon = new Horizon(size);
      horizon.read([], () => false);
      for (const { id: number, due } of list) {
        const id = `a${number}`;
        if (due === null) all.delete(id);
        else all.set(id, due);
        horizon.set(id, due);
        if (horizon.drained) horizon.read(stored(), () => false);
        const soonest = stored()[0]?.due ?? null;
        expect(horizon.earliest).toBe(soonest);
        const late = horizon.dueBefore((soonest ?? 0) + 1, 100);
        const wanted = stored().filter((one) => one.due === soonest);
        // All of them, or those that fit.
        expect(late.length).toBeGreaterThanOrEqual(Math.min(wanted.length, 1));
        expect(wanted.map(({ id: of }) => of)).toEqual(expect.arrayContaining(late));
      }
    }),
  );
});
