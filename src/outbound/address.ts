/** Blocks that are not for hosts of the public network, or not yet (IANA's registries of special-purpose addresses). */
const SPECIAL_V4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
];

/** Global unicast so far; all else is reserved, embeds a v4 address, or is local. */
const GLOBAL_V6 = ["2000::/3"];
/** Of that: protocols of the IETF with Teredo, documentation, 6to4, AS112. */
const SPECIAL_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"];

/** Whether four decimal numbers are an address of the public network. */
export function isPublicV4(text: string): boolean {
  return /^\d+(\.\d+){3}$/.test(text) && !isIn(SPECIAL_V4, text, v4, 32);
}

/** The same of an IPv6 address without brackets, written as a URL's parser does. */
export function isPublicV6(text: string): boolean {
  return isIn(GLOBAL_V6, text, v6, 48) && !isIn(SPECIAL_V6, text, v6, 48);
}

function isIn(blocks: string[], text: string, read: (text: string) => number, bits: number) {
  return blocks.some((block) => {
    const [first = "", prefix] = block.split("/");
    const size = 2 ** (bits - Number(prefix));
    return Math.floor(read(text) / size) === read(first) / size;
  });
}

function v4(text: string): number {
  return text.split(".").reduce((sum, byte) => sum * 256 + Number(byte), 0);
}

/** The first 48 bits: no block ends behind them. `::` stands for two groups at least. */
function v6(text: string): number {
  const [head = ""] = text.split("::");
  const [a = "", b = "", c = ""] = head.split(":");
  return [a, b, c].reduce((sum, group) => sum * 65_536 + parseInt(group || "0", 16), 0);
}
