/**
 * Fingerprints of histories and codes of event types, counted by the C module in WebAssembly
 * (wasm/fingerprint.h says what the two sides share).
 *
 * Texts must be well-formed Unicode: a lone surrogate is refused with a TypeError, since UTF-8
 * has no bytes for it and two different types would end up as one.
 */
import { bytes, DIGITS, kernel, results, running } from "./module.ts";

/** 64-bit FNV-1a of a history as 16 lower-case hexadecimal digits. */
export type Fingerprint = string;

/** The fingerprint of an actor that has handled nothing yet. */
export const EMPTY_FINGERPRINT: Fingerprint = "cbf29ce484222325";

/** Does with the first `length` bytes of the buffer what is to be done, and leaves it free. */
type Take = (length: number) => void;

const END_OF_TYPE = 0xff;
const END_OF_HISTORY = 0xfe;
const OFFSET_64 = BigInt(`0x${EMPTY_FINGERPRINT}`);
const OFFSET_32 = 0x811c9dc5;
const LAST_ASCII = 0x7f;
/** characters; up to about here a loop costs less than a view of the buffer and the encoder. */
const SHORT = 32;

const resultDigits = new DataView(results.buffer, results.byteOffset, results.length);
const runningDigits = new DataView(running.buffer, running.byteOffset, DIGITS);
const codes = new Uint32Array(results.buffer, results.byteOffset, results.length / 4);
const fingerprintsMost = results.length / DIGITS;

const encoder = new TextEncoder();

/** Writes `text` at `at` if it is short, ASCII and fits, as nearly all types do; says whether. */
function writeAscii(text: string, at: number): boolean {
  const { length } = text;
  if (length > SHORT || at + length > bytes.length) return false;
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > LAST_ASCII) return false;
    bytes[at + i] = unit;
  }
  return true;
}

/** Writes `text` at `at`, handing the buffer over as often as it is full; answers where it ends. */
function writeText(text: string, at: number, take: Take): number {
  if (writeAscii(text, at)) return at + text.length;
  if (!text.isWellFormed()) throw new TypeError("Text with a lone surrogate has no fingerprint");
  let rest = text;
  let end = at;
  for (;;) {
    const { read, written } = encoder.encodeInto(rest, bytes.subarray(end));
    end += written;
    if (read === rest.length) return end;
    take(end);
    end = 0;
    rest = rest.slice(read);
  }
}

function writeMark(mark: number, at: number, take: Take): number {
  let end = at;
  if (end === bytes.length) {
    take(end);
    end = 0;
  }
  bytes[end] = mark;
  return end + 1;
}

function writeType(type: string, at: number, take: Take): number {
  return writeMark(END_OF_TYPE, writeText(type, at, take), take);
}

/** Reads 16 digits. Spelled out: one call with every digit is the fastest way to a flat string. */
function readDigits(digits: DataView, at: number): Fingerprint {
  return String.fromCharCode(
    digits.getUint8(at),
    digits.getUint8(at + 1),
    digits.getUint8(at + 2),
    digits.getUint8(at + 3),
    digits.getUint8(at + 4),
    digits.getUint8(at + 5),
    digits.getUint8(at + 6),
    digits.getUint8(at + 7),
    digits.getUint8(at + 8),
    digits.getUint8(at + 9),
    digits.getUint8(at + 10),
    digits.getUint8(at + 11),
    digits.getUint8(at + 12),
    digits.getUint8(at + 13),
    digits.getUint8(at + 14),
    digits.getUint8(at + 15),
  );
}

function malformed(): TypeError {
  return new TypeError("A fingerprint is 16 lower-case hexadecimal digits");
}

function foldRunning(length: number): void {
  if (kernel.fold_running(length) === 0) throw malformed();
}

/**
 * The fingerprint of the history that `fingerprint` stands for with one more type at its end.
 * @throws TypeError for a malformed fingerprint or type.
 */
export function foldType(fingerprint: Fingerprint, type: string): Fingerprint {
  const fits = fingerprint.length === DIGITS;
  if (!fits || encoder.encodeInto(fingerprint, running).written !== DIGITS) throw malformed();
  foldRunning(writeType(type, 0, foldRunning));
  return readDigits(runningDigits, 0);
}

export function fingerprintOf(types: readonly string[]): Fingerprint {
  return fingerprintBatch([types])[0] ?? EMPTY_FINGERPRINT;
}

/** The fingerprint of each history, in their order. */
export function fingerprintBatch(histories: readonly (readonly string[])[]): Fingerprint[] {
  const all: Fingerprint[] = [];
  let hash = OFFSET_64;
  let ended = 0;
  const take = (length: number) => {
    hash = kernel.fingerprint_histories(hash, length);
    for (let i = 0; i < ended; i++) all.push(readDigits(resultDigits, i * DIGITS));
    ended = 0;
  };
  let end = 0;
  for (const history of histories) {
    for (const type of history) end = writeType(type, end, take);
    end = writeMark(END_OF_HISTORY, end, take);
    ended += 1;
    if (ended < fingerprintsMost) continue;
    take(end);
    end = 0;
  }
  take(end);
  return all;
}

/** 32-bit FNV-1a of a type: an unsigned integer. */
export function codeOf(type: string): number {
  let hash = OFFSET_32;
  const take = (length: number) => {
    hash = kernel.fold_32(hash, length);
  };
  take(writeText(type, 0, take));
  return hash >>> 0;
}

/** The code of each type, in their order. */
export function codeBatch(types: readonly string[]): Uint32Array {
  const all = new Uint32Array(types.length);
  let hash = OFFSET_32;
  let ended = 0;
  let done = 0;
  const take = (length: number) => {
    hash = kernel.code_types(hash, length);
    all.set(codes.subarray(0, ended), done);
    done += ended;
    ended = 0;
  };
  let end = 0;
  for (const type of types) {
    end = writeType(type, end, take);
    ended += 1;
    if (ended < codes.length) continue;
    take(end);
    end = 0;
  }
  take(end);
  return all;
}

/** 64-bit FNV-1a of a text's UTF-8 bytes as they are, unsigned: to spread keys over buckets. */
export function hash64(text: string): bigint {
  let hash = OFFSET_64;
  const take = (length: number) => {
    hash = kernel.fold_64(hash, length);
  };
  take(writeText(text, 0, take));
  return BigInt.asUintN(64, hash);
}
