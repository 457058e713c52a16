import { describe, expect, it } from "vitest";
import { targetFault } from "../../src/outbound/target.ts";
import { LIMITS } from "../../src/base/limits.ts";

const refused = (url: string) => targetFault(url, {}) !== null;

const PRIVATE = [
  // v4 in every spelling that the URL parser takes
  "http://127.0.0.1/",
  "http://127.1/",
  "http://2130706433/",
  "http://0x7f000001/",
  "http://0x7f.1/",
  "http://0177.0.0.1/",
  "http://127.0.0.1./",
  "http://%31%32%37.0.0.1/",
  "http://１２７.0.0.1/",
  "http://127。0。0。1/",
  "http://0/",
  "http://0.0.0.0:8080/",
  "http://10.0.0.1/",
  "http://172.16.0.1/",
  "http://172.31.255.255/",
  "http://192.168.1.1/",
  "http://169.254.169.254/latest/meta-data/",
  "http://100.64.0.1/",
  "http://192.0.0.1/",
  "http://192.0.2.1/",
  "http://198.18.0.1/",
  "http://198.51.100.1/",
  "http://203.0.113.1/",
  "http://224.0.0.1/",
  "http://240.0.0.1/",
  "http://255.255.255.255/",
  // v6, and v4 inside v6
  "http://[::1]/",
  "http://[::]/",
  "http://[0:0:0:0:0:0:0:1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:7f00:1]/",
  "http://[::ffff:8.8.8.8]/",
  "http://[::127.0.0.1]/",
  "http://[::ffff:0:127.0.0.1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://[64:ff9b:1::7f00:1]/",
  "http://[2002:7f00:1::]/",
  "http://[2001:0:7f00:1::]/",
  "http://[fe80::1]/",
  "http://[febf::1]/",
  "http://[fc00::1]/",
  "http://[fd12:3456::1]/",
  "http://[fec0::1]/",
  "http://[ff02::1]/",
  "http://[100::1]/",
  "http://[2001:db8::1]/",
  "http://[3fff::1]/",
  "http://[5f00::1]/",
  "http://[4000::1]/",
  "http://[1::1]/",
  // names
  "http://localhost/",
  "http://LOCALHOST/",
  "http://localhost./",
  "http://a.localhost/",
  "http://printer.local/",
  "http://printer.local./",
  "http://metadata.google.internal/",
  "http://db.internal/",
  "http://redis/",
  "http://redis./",
  "http://router.home.arpa/",
  "http://files.lan/",
  "http://a..localhost/",
  "http://ｌｏｃａｌｈｏｓｔ/",
];

const PUBLIC = [
  "https://example.com/hooks",
  "http://example.com:8080/hooks?of=mine",
  "https://8.8.8.8/",
  "https://172.32.0.1/",
  "https://[2606:4700::1111]/",
  "https://localhost.example.com/",
  "https://internal.example.com/",
  "https://127.0.0.1.example.com/",
  "https://bücher.example/",
];

const MALFORMED = [
  "",
  "example.com",
  "/hooks",
  "ftp://example.com/",
  "file:///etc/passwd",
  "javascript:alert(1)",
  "http://",
  "https://user@example.com/",
  "https://user:password@example.com/",
  "https://:password@example.com/",
  "https://example.com/#fragment",
  "https://example.com/#",
];

describe("a target", () => {
  it.each(PRIVATE)("is refused inside: %s", (url) => {
    expect(refused(url)).toBe(true);
  });

  it("says what allows one inside", () => {
    expect(targetFault("http://10.0.0.1/", {})).toContain("PERDURE_PRIVATE_TARGETS=1");
  });

  it.each(PUBLIC)("is taken outside: %s", (url) => {
    expect(targetFault(url, {})).toBeNull();
  });

  it.each(MALFORMED)("is refused however it is configured: %s", (url) => {
    expect(targetFault(url, {})).not.toBeNull();
    expect(targetFault(url, { PERDURE_PRIVATE_TARGETS: "1" })).not.toBeNull();
  });

  it("may be inside where the configuration says so, and only then", () => {
    for (const url of PRIVATE) {
      if (URL.canParse(url)) {
        expect(targetFault(url, { PERDURE_PRIVATE_TARGETS: "1" }), url).toBeNull();
      }
      expect(targetFault(url, { PERDURE_PRIVATE_TARGETS: "true" }), url).not.toBeNull();
    }
  });

  it("has a longest address", () => {
    const base = "https://example.com/";
    const longest = base + "a".repeat(LIMITS.urlChars - base.length);
    expect(targetFault(longest, {})).toBeNull();
    expect(targetFault(`${longest}a`, {})).not.toBeNull();
  });
});
