import * as fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import module from "../../wasm/fingerprint.wasm";
import { fnv32, fnv64, hexOf, OFFSET_32, OFFSET_64 } from "../support/fnv.ts";

/** The C module alone, without the TypeScript around it. */
interface Exports {
  memory: WebAssembly.Memory;
  layout(): number;
  fold_64(hash: bigint, length: number): bigint;
  fold_32(hash: number, length: number): number;
  fold_running(length: number): number;
  fingerprint_histories(hash: bigint, length: number): bigint;
  code_types(hash: number, length: number): number;
}

const PAGES = 2;
let exports: Exports;
let bytes: Uint8Array;
let running: Uint8Array;
let results: Uint8Array;

beforeEach(() => {
  exports = new WebAssembly.Instance(module).exports as unknown as Exports;
  const { buffer } = exports.memory;
  const words = new Uint32Array(buffer, exports.layout(), 5);
  bytes = new Uint8Array(buffer, words[0], words[1]);
  running = new Uint8Array(buffer, words[2], 16);
  results = new Uint8Array(buffer, words[3], words[4]);
});

const ascii = (digits: Uint8Array) => String.fromCharCode(...digits);
const write = (text: string) => new TextEncoder().encodeInto(text, running);

/** Bytes and places to cut them at. */
const pieces = fc
  .uint8Array({ maxLength: 300 })
  .chain((data) =>
    fc.tuple(
      fc.constant(data),
      fc.array(fc.integer({ min: 0, max: data.length }), { maxLength: 8 }),
    ),
  )
  .map(([data, places]) => {
    const cuts = [0, ...places.toSorted((a, b) => a - b), data.length];
    return { data, parts: cuts.slice(1).map((to, i) => data.subarray(cuts[i], to)) };
  });

function feed(parts: readonly Uint8Array[], take: (length: number) => void): void {
  for (const part of parts) {
    bytes.set(part);
    take(part.length);
  }
}

describe("the C module", () => {
  it("imports nothing and exports what it says", () => {
    expect(WebAssembly.Module.imports(module)).toEqual([]);
    expect(WebAssembly.Module.exports(module).map(({ name }) => name)).toEqual([
      "memory",
      "layout",
      "fold_64",
      "fold_32",
      "fold_running",
      "fingerprint_histories",
      "code_types",
      "load_automaton",
      "decide",
    ]);
  });

  it("cannot have more memory than it starts with", () => {
    expect(exports.memory.buffer.byteLength).toBe(PAGES * 65_536);
    expect(() => exports.memory.grow(1)).toThrow(RangeError);
    expect([bytes.length, results.length]).toEqual([65_536, 32_768]);
  });

  it("folds the same bytes to the same hash in any cut", () => {
    fc.assert(
      fc.property(pieces, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), ({ data, parts }, from) => {
        let bits64 = from;
        let bits32 = OFFSET_32;
        write(hexOf(from));
        feed(parts, (length) => {
          bits64 = exports.fold_64(bits64, length);
          bits32 = exports.fold_32(bits32, length);
          expect(exports.fold_running(length)).toBe(1);
        });
        expect(BigInt.asUintN(64, bits64)).toBe(fnv64(data, from));
        expect(ascii(running)).toBe(hexOf(fnv64(data, from)));
        expect(bits32 >>> 0).toBe(fnv32(data));
      }),
      { numRuns: 300 },
    );
  });

  it("reads packed streams the same in any cut", () => {
    const FF = 0xff;
    const FE = 0xfe;
    const stream = fc
      .array(fc.oneof(fc.constantFrom(FF, FE), fc.integer({ min: 0, max: 255 })), { maxLength: 80 })
      .map((list) => Uint8Array.from(list));
    fc.assert(
      fc.property(stream, fc.integer({ min: 0, max: 80 }), (data, at) => {
        const parts = [data.subarray(0, at), data.subarray(at)];
        const found: { fingerprints: string[]; codes: number[] } = { fingerprints: [], codes: [] };
        let hash = OFFSET_64;
        let code = OFFSET_32;
        feed(parts, (length) => {
          hash = exports.fingerprint_histories(hash, length);
          const part = bytes.slice(0, length);
          const ended = part.filter((byte) => byte === FE).length;
          for (let i = 0; i < ended; i++) {
            found.fingerprints.push(ascii(results.subarray(16 * i, 16 * i + 16)));
          }
          code = exports.code_types(code, length);
          const types = part.filter((byte) => byte === FF).length;
          found.codes.push(...new Uint32Array(results.buffer, results.byteOffset, types));
        });
        expect(found.fingerprints).toEqual(split(data, FE).map((part) => hexOf(fnv64(part))));
        expect(found.codes).toEqual(split(data, FF).map((part) => fnv32(part)));
      }),
      { numRuns: 300 },
    );
  });

  it("leaves a running fingerprint alone that is malformed", () => {
    for (const text of ["CBF29CE484222325", "cbf29ce48422232g", "cbf29ce48422232\0"]) {
      write(text);
      expect(exports.fold_running(10)).toBe(0);
      expect(ascii(running)).toBe(text);
    }
  });

  it("traps on a length beyond the buffer and on more answers than there is room for", () => {
    write("cbf29ce484222325");
    for (const length of [65_537, -1, 2 ** 31]) {
      expect(() => exports.fold_64(OFFSET_64, length)).toThrow(WebAssembly.RuntimeError);
      expect(() => exports.fold_32(OFFSET_32, length)).toThrow(WebAssembly.RuntimeError);
      expect(() => exports.fold_running(length)).toThrow(WebAssembly.RuntimeError);
      expect(() => exports.code_types(OFFSET_32, length)).toThrow(WebAssembly.RuntimeError);
      expect(() => exports.fingerprint_histories(OFFSET_64, length)).toThrow(
        WebAssembly.RuntimeError,
      );
    }
    bytes.fill(0xfe);
    exports.fingerprint_histories(OFFSET_64, 2_048);
    expect(() => exports.fingerprint_histories(OFFSET_64, 2_049)).toThrow(WebAssembly.RuntimeError);
    bytes.fill(0xff);
    exports.code_types(OFFSET_32, 8_192);
    expect(() => exports.code_types(OFFSET_32, 8_193)).toThrow(WebAssembly.RuntimeError);
  });

  it("stays within its memory over 10,000 calls with a full buffer", { timeout: 60_000 }, () => {
    const whole = new Uint8Array(exports.memory.buffer);
    const outside = () => whole.filter((_, i) => i < bytes.byteOffset || i >= resultsEnd);
    const resultsEnd = results.byteOffset + results.length;
    const before = outside();
    bytes.fill(0x41);
    write("cbf29ce484222325");
    for (let i = 0; i < 2_500; i++) {
      exports.fold_running(bytes.length);
      exports.fold_32(OFFSET_32, bytes.length);
      exports.fingerprint_histories(OFFSET_64, bytes.length);
      exports.code_types(OFFSET_32, bytes.length);
    }
    expect(whole.length).toBe(PAGES * 65_536);
    expect(outside()).toEqual(before);
  });
});

/** The parts of `data` that a mark ends; what follows the last mark has not ended. */
function split(data: Uint8Array, mark: number): number[][] {
  const parts: number[][] = [];
  let part: number[] = [];
  for (const byte of data) {
    if (byte !== mark) {
      part.push(byte);
      continue;
    }
    parts.push(part);
    part = [];
  }
  return parts;
}
