import { connect } from "node:net";
import { gzipSync } from "node:zlib";

/** Requests that say something about themselves which is not so; bytes as they go over the wire. */
export function lies(host: string, key: string): { name: string; bytes: Buffer }[] {
  const head = (...more: string[]) =>
    [
      "POST /v1/actors HTTP/1.1",
      `Host: ${host}`,
      `Authorization: Bearer ${key}`,
      "Idempotency-Key: lie",
      "Content-Type: application/json",
      ...more,
      "",
      "",
    ].join("\r\n");
  const body = '{"definitionId": "nobody"}';
  const packed = gzipSync(body);
  const of = (name: string, ...parts: (string | Buffer)[]) => ({
    name,
    bytes: Buffer.concat(parts.map((part) => Buffer.from(part as string))),
  });
  return [
    of("longer than it says", head("Content-Length: 5"), body),
    of("shorter than it says", head("Content-Length: 5000"), body),
    of("a length that is no number", head("Content-Length: x"), body),
    of("a negative length", head("Content-Length: -1"), body),
    of("two lengths", head("Content-Length: 5", "Content-Length: 26"), body),
    of("an endless length", head(`Content-Length: ${"9".repeat(30)}`), body),
    of("a length and chunks", head("Content-Length: 26", "Transfer-Encoding: chunked"), body),
    of("chunks that are none", head("Transfer-Encoding: chunked"), body),
    of("a chunk that breaks off", head("Transfer-Encoding: chunked"), "ff\r\n{}"),
    of("a chunk of an endless length", head("Transfer-Encoding: chunked"), "fffffffffff\r\n{}"),
    of("an unknown transfer", head("Transfer-Encoding: x"), body),
    of("gzip that is none", head("Content-Encoding: gzip", "Content-Length: 26"), body),
    of(
      "gzip that is one",
      head("Content-Encoding: gzip", `Content-Length: ${packed.length}`),
      packed,
    ),
    of("gzip without a word", head(`Content-Length: ${packed.length}`), packed),
    of("no body where one is announced", head("Content-Length: 26", "Expect: 100-continue")),
    of("half a request", "POST /v1/act"),
    of("no request", Buffer.from([0, 255, 13, 10, 13, 10])),
    of("another protocol", Buffer.from([0x16, 3, 1, 0, 0xa5, 1, 0, 0])),
    of("an old one", `GET /v1/health HTTP/0.9\r\n\r\n`),
    of("a new one", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    of("a header without an end", head().slice(0, -4), "X-Long: ", "x".repeat(200_000)),
    of(
      "a thousand headers",
      head(...Array.from({ length: 1_000 }, (_, n) => `X-${n}: ${n}`)),
      body,
    ),
    of("a header that goes on", head("X-Folded: a\r\n b", "Content-Length: 26"), body),
    of("a header with a NUL", head("X-Nul: a\0b", "Content-Length: 26"), body),
  ];
}

/** ms; one who lies waits no longer than this, since the server may wait for what was promised. */
const PATIENCE_MS = 500;

/** What comes back until the server closes the connection or says nothing more. */
export function told(url: string, bytes: Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let answer = "";
    socket.setEncoding("latin1").on("data", (chunk: string) => (answer += chunk));
    // A connection that is reset says no to a lie as well as an answer does.
    socket.once("error", () => socket.destroy());
    socket.once("close", () => resolve(answer));
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.write(bytes);
  });
}
