import { PerdureError } from "../base/errors.ts";
import type { ErrorCode } from "../base/errors.ts";
import { RESERVED_DATA_KEY, dataFault } from "../base/json.ts";
import type { DataFault, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { limitExtra } from "../base/over-limit.ts";

interface BodyRules {
  /** Whether the request may have no body; it then counts as `{}`. */
  optional: boolean;
  /** Definitions may hold the reserved data key here: their check says where it is. */
  definition: boolean;
}

const JSON_MEDIA_TYPE =
  /^application\/(?:[\w.+-]+\+)?json(?:\s*;\s*charset\s*=\s*"?utf-8"?)?\s*;?\s*$/i;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** The request's body as parsed JSON that can be kept as data. */
export async function readJson(request: Request, rules: BodyRules): Promise<JsonValue> {
  const bytes = await readBytes(request);
  if (bytes.byteLength === 0) {
    if (rules.optional) return {};
    throw invalidJson("The body is empty. Send a JSON object with Content-Type: application/json.");
  }
  const mediaType = request.headers.get("Content-Type") ?? "";
  if (mediaType !== "application/json" && !JSON_MEDIA_TYPE.test(mediaType)) {
    throw new PerdureError(
      "unsupported_media_type",
      "Send the body as UTF-8 JSON with Content-Type: application/json.",
    );
  }
  const value = parse(bytes);
  const fault = dataFault(value, LIMITS.jsonDepth, rules.definition ? null : RESERVED_DATA_KEY);
  if (fault) throw faulty(fault);
  return value;
}

async function readBytes(request: Request): Promise<ArrayBuffer | Uint8Array> {
  if (request.body === null) return new Uint8Array();
  const announced = request.headers.get("Content-Length");
  if (announced === null) return readChunks(request.body);
  if (Number(announced) > LIMITS.bodyBytes) throw tooLarge();
  return request.arrayBuffer();
}

/** For bodies of which nobody said how much is coming. */
async function readChunks(body: ReadableStream): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > LIMITS.bodyBytes) throw tooLarge();
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let end = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, end);
    end += chunk.byteLength;
  }
  return bytes;
}

function parse(bytes: ArrayBuffer | Uint8Array): JsonValue {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw invalidJson("The body is not UTF-8.");
  }
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw invalidJson(`The body is not JSON: ${(error as Error).message}.`);
  }
}

const FAULTS: Record<DataFault, { code: ErrorCode; detail: string }> = {
  depth: {
    code: "limit_exceeded",
    detail: `The body nests arrays and objects more than ${LIMITS.jsonDepth} levels deep.`,
  },
  reserved_key: {
    code: "invalid_request",
    detail: `The body has an object with the key "${RESERVED_DATA_KEY}", which XState keeps for itself.`,
  },
  surrogate: {
    code: "invalid_request",
    detail: "The body has a text with half of a surrogate pair, which UTF-8 cannot write.",
  },
  number: {
    code: "invalid_request",
    detail: "The body has a number beyond what a double can hold, such as 1e999.",
  },
};

function faulty(fault: DataFault): PerdureError {
  const { code, detail } = FAULTS[fault];
  const extra = limitExtra("jsonDepth");
  return new PerdureError(code, detail, fault === "depth" ? { extra } : {});
}

function invalidJson(detail: string): PerdureError {
  return new PerdureError("invalid_json", detail);
}

function tooLarge(): PerdureError {
  return new PerdureError("too_large", `A body has at most ${LIMITS.bodyBytes} bytes.`, {
    extra: limitExtra("bodyBytes"),
  });
}
