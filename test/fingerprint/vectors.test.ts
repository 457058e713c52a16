import { describe, expect, it } from "vitest";
import { codeOf, hash64 } from "../../src/fingerprint/kernel.ts";
import { hexOf, plainCode, plainHash64 } from "../support/fnv.ts";

const tenTimes = (text: string) => text.repeat(10);

/** From the public-domain table of the authors (isthe.com/chongo/src/fnv/test_fnv.c). */
const PUBLISHED: readonly (readonly [text: string, bits32: number, bits64: string])[] = [
  ["", 0x811c9dc5, "cbf29ce484222325"],
  ["a", 0xe40c292c, "af63dc4c8601ec8c"],
  ["b", 0xe70c2de5, "af63df4c8601f1a5"],
  ["c", 0xe60c2c52, "af63de4c8601eff2"],
  ["d", 0xe10c2473, "af63d94c8601e773"],
  ["e", 0xe00c22e0, "af63d84c8601e5c0"],
  ["f", 0xe30c2799, "af63db4c8601ead9"],
  ["fo", 0x6222e842, "08985907b541d342"],
  ["foo", 0xa9f37ed7, "dcb27518fed9d577"],
  ["foob", 0x3f5076ef, "dd120e790c2512af"],
  ["fooba", 0x39aaa18a, "cac165afa2fef40a"],
  ["foobar", 0xbf9cf968, "85944171f73967e8"],
  ["\0", 0x050c5d1f, "af63bd4c8601b7df"],
  ["foobar\0", 0x0c1c9eb8, "34531ca7168b8f38"],
  ["chongo was here!\n", 0xd49930d5, "46810940eff5f915"],
  ["curds and whey\n", 0x19a1470c, "1a0b44ccfe1385ec"],
  ["hello", 0x4f9f2cab, "a430d84680aabd0b"],
  ["127.0.0.1", 0x08a3d11e, "aabafe7104d914be"],
  ["feedfacedeadbeef", 0xf1760448, "cac54572bb1a6fc8"],
  ["line 1\nline 2\nline 3", 0x97b4ea23, "7829851fac17b143"],
  ["http://norvig.com/21-days.html", 0xeb08bfba, "07aaa640476e0b9a"],
  ["http://en.wikipedia.org/wiki/Fowler_Noll_Vo_hash", 0xdd16ef45, "d9b957fb7fe794c5"],
  [tenTimes("21701"), 0xe415e2bb, "c4112ffb337a82fb"],
  [tenTimes("391581*2^216093-1"), 0x76823999, "d845097780602bb9"],
  [tenTimes("FEDCBA9876543210"), 0xf3415c85, "83544f33b58773a5"],
  [tenTimes("0123456789ABCDEF"), 0x2bb3be35, "b6ef0e6950f52ed5"],
];

describe("published FNV-1a vectors", () => {
  it.each(PUBLISHED)("the module hashes %j as published", (text, bits32, bits64) => {
    expect(codeOf(text)).toBe(bits32);
    expect(hexOf(hash64(text))).toBe(bits64);
  });

  it.each(PUBLISHED)("the plain twin hashes %j as published", (text, bits32, bits64) => {
    expect(plainCode(text)).toBe(bits32);
    expect(hexOf(plainHash64(text))).toBe(bits64);
  });
});
