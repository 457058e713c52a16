import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { codeOf } from "../../src/fingerprint/kernel.ts";
import { packSteps, stepsFull } from "../../src/lifecycle/steps.ts";

interface Step {
  type: string | null;
  handled: boolean | null;
}

function unpack(packed: string): { system: boolean; code: number }[] {
  const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  expect(bytes.length % 5).toBe(0);
  return Array.from({ length: bytes.length / 5 }, (_, index) => ({
    system: view.getUint8(5 * index) === 1,
    code: view.getUint32(5 * index + 1),
  }));
}

const step = fc.record<Step>({
  type: fc.constantFrom("GO", "pay.done", "@timer:a.b:1000", "@timer:x:2", "ü", null),
  handled: fc.constantFrom(true, false, null),
});

describe("the packed steps of a history", () => {
  test("are a flag and the type's FNV-1a-32, big endian", () => {
    expect(packSteps("", [])).toBe("");
    // FNV-1a-32 of "a" is e40c292c, a published test vector.
    expect(
      [...atob(packSteps("", [{ type: "a", handled: true }]))].map((c) => c.charCodeAt(0)),
    ).toEqual([0, 0xe4, 0x0c, 0x29, 0x2c]);
  });

  test("are what was handled, in order, the system's own flagged, the first ones only", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const wanted = steps
          .filter(({ type, handled }) => handled && type)
          .slice(0, LIMITS.historySteps)
          .map(({ type }) => ({ system: type!.startsWith("@"), code: codeOf(type!) }));
        expect(unpack(packSteps("", steps))).toEqual(wanted);
      }),
    );
  });

  test("grow alike in one go and record by record", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.nat(60), (steps, at) => {
        const whole = packSteps("", steps);
        expect(packSteps(packSteps("", steps.slice(0, at)), steps.slice(at))).toBe(whole);
        expect(stepsFull(whole)).toBe(unpack(whole).length === LIMITS.historySteps);
      }),
    );
  });
});
