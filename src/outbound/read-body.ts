import { dataFault } from "../base/json.ts";
import type { JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";

/** A body as data, or why it cannot be had. */
type ReadBody = { body: JsonValue } | { fault: string };

/**
 * Reads at most so many bytes of a body. Beyond, it is a fault, or cut where `cut`. JSON is parsed where the answer says
 * that it is JSON; what is none after all, or holds what no data may hold, is given as the text that it is. Nothing is null.
 */
export async function readBody(response: Response, most: number, cut = false): Promise<ReadBody> {
  const { text, whole } = await readText(response, most);
  if (!whole && !cut) {
    const message = `The answer has more than ${LIMITS.httpResponseBytes} bytes, the limit httpResponseBytes.`;
    return { fault: message };
  }
  if (text === "") return { body: null };
  return { body: whole && isJson(response.headers) ? parsed(text) : text };
}

async function readText(
  response: Response,
  most: number,
): Promise<{ text: string; whole: boolean }> {
  if (response.body === null) return { text: "", whole: true };
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let text = "";
  for (let left = most; ;) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.decode(), whole: true };
    if (value.byteLength > left) {
      await reader.cancel().catch(() => {});
      text += decoder.decode(value.subarray(0, Math.max(0, left)), { stream: true });
      return { text, whole: false };
    }
    left -= value.byteLength;
    text += decoder.decode(value, { stream: true });
  }
}

function isJson(headers: Headers): boolean {
  const type = (headers.get("Content-Type") ?? "").split(";", 1)[0] as string;
  return /^\s*application\/([\w.+-]+\+)?json\s*$/i.test(type);
}

function parsed(text: string): JsonValue {
  try {
    const value = JSON.parse(text) as JsonValue;
    return dataFault(value, LIMITS.jsonDepth) === null ? value : text;
  } catch {
    return text;
  }
}
