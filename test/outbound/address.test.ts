import fc from "fast-check";
import { parse } from "ipaddr.js";
import { describe, expect, it } from "vitest";
import { isPublicV4, isPublicV6 } from "../../src/outbound/address.ts";

/** Starts and ends of blocks, a step to either side of them, and anything between. */
function around(width: number, firsts: readonly bigint[]): fc.Arbitrary<bigint> {
  const shift = fc.integer({ min: 0, max: width });
  return fc.oneof(
    fc.bigInt({ min: 0n, max: (1n << BigInt(width)) - 1n }),
    fc
      .tuple(fc.constantFrom(...firsts), shift, fc.constantFrom(-1n, 0n, 1n))
      .map(([first, bits, step]) =>
        BigInt.asUintN(width, first + (1n << BigInt(bits)) * (step === 0n ? 0n : 1n) + step),
      ),
    fc
      .tuple(fc.constantFrom(...firsts), shift, fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }))
      .map(([first, bits, below]) =>
        BigInt.asUintN(width, first ^ (below & ((1n << BigInt(bits)) - 1n))),
      ),
  );
}

/** As the library sees it: the measure of ours. */
const publicByLibrary = (text: string): boolean => {
  const address = parse(text);
  if (address.range() !== "unicast") return false;
  return address.kind() === "ipv4" || /^[23][0-9a-f]{3}:/.test(address.toNormalizedString());
};

const host = (url: string) => new URL(url).hostname.replace(/[[\]]/g, "");
const spellV4 = (value: bigint) => host(`http://${value}/`);
const spellV6 = (value: bigint) =>
  host(`http://[${value.toString(16).padStart(32, "0").match(/.{4}/g)?.join(":")}]/`);

const bytes = (text: string) =>
  (parse(text).toByteArray() as number[]).reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);

const V4 = [
  "0.0.0.0 10.0.0.0 100.64.0.0 127.0.0.0 169.254.0.0 172.16.0.0 192.0.0.0 192.0.2.0 192.31.196.0",
  "192.52.193.0 192.88.99.0 192.168.0.0 192.175.48.0 198.18.0.0 198.51.100.0 203.0.113.0",
  "224.0.0.0 240.0.0.0 255.255.255.255 8.8.8.8",
].flatMap((line) => line.split(" ").map(bytes));

const V6 = [
  ":: ::1 ::ffff:0:0 64:ff9b:: 64:ff9b:1:: 100:: 2001:: 2001:2:: 2001:3:: 2001:4:112:: 2001:10::",
  "2001:20:: 2001:30:: 2001:200:: 2001:db8:: 2002:: 2620:4f:8000:: 3fff:: 3fff:1000:: 4000:: 2000::",
  "5f00:: fc00:: fe80:: fec0:: ff00:: 2606:4700::1111",
].flatMap((line) => line.split(" ").map(bytes));

describe("what is public is what ipaddr.js calls global unicast", () => {
  it("of IPv4", () => {
    fc.assert(
      fc.property(around(32, V4), (value) => {
        const text = spellV4(value);
        expect(isPublicV4(text), text).toBe(publicByLibrary(text));
      }),
      { numRuns: 20_000 },
    );
  });

  it("of IPv6", () => {
    fc.assert(
      fc.property(around(128, V6), (value) => {
        const text = spellV6(value);
        expect(isPublicV6(text), text).toBe(publicByLibrary(text));
      }),
      { numRuns: 20_000 },
    );
  });

  it("whatever block the library knows, at both ends and one past them", () => {
    type Block = [start: { toByteArray(): number[] }, prefix: number];
    type Ranges = Record<string, Block | Block[]>;
    for (const [sample, width, spell, judge] of [
      ["1.1.1.1", 32, spellV4, isPublicV4],
      ["2606::1", 128, spellV6, isPublicV6],
    ] as const) {
      const { SpecialRanges } = parse(sample) as unknown as { SpecialRanges: Ranges };
      const blocks = Object.values(SpecialRanges).flatMap((one) =>
        Array.isArray(one[0]) ? (one as Block[]) : [one as Block],
      );
      expect(blocks.length).toBeGreaterThan(15);
      for (const [start, prefix] of blocks) {
        const first = start.toByteArray().reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
        const end = first + (1n << BigInt(width - prefix));
        for (const value of [first - 1n, first, end - 1n, end]) {
          const text = spell(BigInt.asUintN(width, value));
          expect(judge(text), text).toBe(publicByLibrary(text));
        }
      }
    }
  });

  it("and four numbers, no more and no fewer", () => {
    for (const text of ["", "8", "8.8.8", "8.8.8.8.8", "8.8.8.8.", "8.8.8.8..", "...."]) {
      expect(isPublicV4(text), text).toBe(false);
    }
  });
});
