import * as fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { decideHistories } from "../../src/fingerprint/decide-histories.ts";
import type { CodeAutomaton } from "../../src/fingerprint/decide-histories.ts";
import module from "../../wasm/fingerprint.wasm";

const NAMES_MOST = 64;
const STATES_MOST = 68;
const FINAL = 3;

/** Codes that share slots of the module's table under the first multiplier it tries. */
const CROWDED = crowdedCodes(40);

function crowdedCodes(count: number): number[] {
  const codes: number[] = [];
  for (let code = 1; codes.length < count; code++) {
    const swapped = new DataView(Uint32Array.of(code).buffer).getUint32(0);
    const key = BigInt(swapped) << 8n;
    if (BigInt.asUintN(64, key * 0x9e3779b97f4a7c15n) >> 54n < 4n) codes.push(code);
  }
  return codes;
}

const code = fc.oneof(
  fc.constantFrom(...CROWDED),
  fc.constantFrom(0, 1, 2 ** 31, 2 ** 32 - 1),
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
);
const letter = fc.record({ code, flag: fc.integer({ min: 0, max: 1 }) });
const lettersOf = (maxLength: number) =>
  fc.uniqueArray(letter, { maxLength, selector: (one) => `${one.flag} ${one.code}` });

/** Any tables, not only those that patterns make. */
const tables: fc.Arbitrary<CodeAutomaton> = fc
  .tuple(lettersOf(NAMES_MOST), fc.integer({ min: FINAL, max: STATES_MOST }))
  .chain(([letters, states]) => {
    const size = states * (letters.length + 2);
    const state = fc.integer({ min: 0, max: states - 1 });
    return fc.record({
      codes: fc.constant(Uint32Array.from(letters, (one) => one.code)),
      flags: fc.constant(Uint8Array.from(letters, (one) => one.flag)),
      next: fc
        .array(state, { minLength: size, maxLength: size })
        .map((all) => Uint8Array.from(all)),
      outcomes: fc.uint8Array({ minLength: states, maxLength: states }),
      start: state,
    });
  });

interface Step {
  code: number;
  flag: number;
}

/** The walk that the tables describe. */
function walk(automaton: CodeAutomaton, steps: readonly Step[]): [outcome: number, at: number] {
  const names = Array.from(automaton.codes, (code, i) => `${automaton.flags[i]} ${code}`);
  let state = automaton.start;
  let at = 0;
  for (const { code, flag } of steps) {
    if (state < FINAL) break;
    const named = names.indexOf(`${flag} ${code}`);
    const symbol = named >= 0 ? named : names.length + flag;
    state = automaton.next[state * (names.length + 2) + symbol]!;
    at += 1;
  }
  return [automaton.outcomes[state]!, at];
}

function pack(histories: readonly (readonly Step[])[]) {
  const all = histories.flat();
  const view = new DataView(new ArrayBuffer(all.length * 5));
  for (const [i, { code, flag }] of all.entries()) {
    view.setUint8(i * 5, flag);
    view.setUint32(i * 5 + 1, code);
  }
  const lengths = Uint8Array.from(histories, (steps) => steps.length);
  return { steps: new Uint8Array(view.buffer), lengths };
}

describe("automata in the module", () => {
  it("walk as their tables say", () => {
    const cases = fc.array(tables, { minLength: 1, maxLength: 3 }).chain((automata) => {
      const named = automata.flatMap(({ codes, flags }) =>
        Array.from(codes, (code, i) => ({ code, flag: flags[i]! })),
      );
      const step = named.length === 0 ? letter : fc.oneof(letter, fc.constantFrom(...named));
      return fc.record({
        automata: fc.constant(automata),
        histories: fc.array(fc.array(step, { maxLength: 30 }), { maxLength: 20 }),
      });
    });
    fc.assert(
      fc.property(cases, ({ automata, histories }) => {
        const answers = decideHistories(automata, pack(histories));
        const expected = automata.map((one) => histories.map((steps) => walk(one, steps)));
        expect(
          answers.map(({ outcomes, at }) => Array.from(outcomes, (outcome, i) => [outcome, at[i]])),
        ).toEqual(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  it("read histories of 255 steps, many chunks of them", () => {
    const automaton: CodeAutomaton = {
      codes: Uint32Array.of(7),
      flags: Uint8Array.of(0),
      next: Uint8Array.of(0, 0, 0, 1, 1, 1, 2, 2, 2, 4, 3, 3, 3, 4, 4),
      outcomes: Uint8Array.of(9, 9, 9, 3, 4),
      start: 3,
    };
    const long = (sevens: number) =>
      Array.from({ length: 255 }, (_, i) => ({ code: i < sevens ? 7 : 8, flag: 0 }));
    const histories = Array.from({ length: 300 }, (_, i) => long(i % 255));
    const [answer] = decideHistories([automaton], pack(histories));
    expect([...answer!.outcomes]).toEqual(histories.map((_, i) => ((i % 255) % 2 ? 4 : 3)));
    expect(new Set(answer!.at)).toEqual(new Set([255]));
  });

  it("are refused where a table has not the size that it says", () => {
    const good: CodeAutomaton = {
      codes: Uint32Array.of(7),
      flags: Uint8Array.of(0),
      next: new Uint8Array(9),
      outcomes: new Uint8Array(3),
      start: 0,
    };
    const histories = pack([[{ code: 7, flag: 0 }]]);
    expect(decideHistories([good], histories)).toHaveLength(1);
    for (const bad of [
      { ...good, flags: new Uint8Array(2) },
      { ...good, next: new Uint8Array(8) },
      { ...good, next: new Uint8Array(10) },
      { ...good, outcomes: new Uint8Array(4) },
      {
        codes: new Uint32Array(65),
        flags: new Uint8Array(65),
        next: new Uint8Array(3 * 67),
        outcomes: new Uint8Array(3),
        start: 0,
      },
    ]) {
      expect(() => decideHistories([{ ...good, ...bad }], histories)).toThrow(RangeError);
    }
    for (const bad of [
      { ...good, start: 3 },
      { ...good, start: -1 },
      { ...good, next: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 3) },
      { ...good, flags: Uint8Array.of(2) },
      { ...good, next: new Uint8Array(6), outcomes: new Uint8Array(2) },
      {
        ...good,
        codes: Uint32Array.of(7, 7),
        flags: new Uint8Array(2),
        next: new Uint8Array(12),
      },
    ]) {
      expect(() => decideHistories([bad], histories)).toThrow(WebAssembly.RuntimeError);
    }
    expect(decideHistories([good], histories)).toHaveLength(1);
  });
});

describe("the C module alone", () => {
  let exports: {
    memory: WebAssembly.Memory;
    layout(): number;
    load_automaton(): void;
    decide(count: number): number;
  };
  let words: Uint32Array;
  let memory: Uint8Array;
  const write = (at: number, ...values: number[]) =>
    new Uint32Array(exports.memory.buffer, words[5]).set(values, at);

  beforeEach(() => {
    exports = new WebAssembly.Instance(module).exports as unknown as typeof exports;
    words = new Uint32Array(exports.memory.buffer, exports.layout(), 8);
    memory = new Uint8Array(exports.memory.buffer);
  });

  it("decides nothing before an automaton is loaded, or after one was refused", () => {
    expect(() => exports.decide(0)).toThrow(WebAssembly.RuntimeError);
    write(0, 0, FINAL, 0);
    exports.load_automaton();
    expect(exports.decide(0)).toBe(0);
    write(0, 0, FINAL, FINAL);
    expect(() => exports.load_automaton()).toThrow(WebAssembly.RuntimeError);
    expect(() => exports.decide(0)).toThrow(WebAssembly.RuntimeError);
  });

  it.each([
    [NAMES_MOST + 1, FINAL, 0],
    [2 ** 32 - 1, FINAL, 0],
    [0, FINAL - 1, 0],
    [0, STATES_MOST + 1, 0],
    [0, 2 ** 31, 0],
    [0, FINAL, 2 ** 32 - 1],
  ])("traps on %d names, %d states and start %d", (...sizes) => {
    write(0, ...sizes);
    expect(() => exports.load_automaton()).toThrow(WebAssembly.RuntimeError);
  });

  it("traps on more histories, or more steps, than there is room for", () => {
    expect([words[1], words[7]]).toEqual([65_536, 4_096]);
    write(0, 0, FINAL, 0);
    exports.load_automaton();
    expect(exports.decide(4_096)).toBe(0);
    for (const count of [4_097, -1, 2 ** 31]) {
      expect(() => exports.decide(count)).toThrow(WebAssembly.RuntimeError);
    }
    memory.fill(255, words[6], words[6]! + 4_096);
    expect(exports.decide(51)).toBe(51 * 255 * 5);
    expect(() => exports.decide(52)).toThrow(WebAssembly.RuntimeError);
  });

  it("writes nothing but its answers and what it loaded", () => {
    write(0, 1, FINAL + 1, FINAL, 7);
    exports.load_automaton();
    const before = memory.slice();
    memory.fill(8, words[6], words[6]! + 1_600);
    exports.decide(1_600);
    const changed = memory.findIndex((byte, i) => byte !== before[i] && !isAnswerOrLength(i));
    expect(changed).toBe(-1);
  });

  function isAnswerOrLength(at: number): boolean {
    const inRange = (from: number, size: number) => at >= from && at < from + size;
    return inRange(words[3]!, 2 * 4_096) || inRange(words[6]!, 4_096);
  }
});
