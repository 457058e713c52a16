import type { Db } from "./db.ts";

/**
 * Where old idempotency keys live. An index over the log would cost a row per event; instead, keys of
 * many records are added to a few rows at once. A block holds the keys whose hash ends in its number, as
 * entries of hash (8 bytes) and seq (4 bytes), little endian. The hash only screens: the log has the key.
 */
const BLOCKS = 8n;
const ENTRY_BYTES = 12;

interface KeyEntry {
  /** 64-bit hash of the key. */
  hash: bigint;
  seq: number;
}

/** Records whose key has this hash. */
export function seqsByHash(db: Db, hash: bigint): number[] {
  const entries = readBlock(db, hash % BLOCKS);
  const seqs: number[] = [];
  for (let offset = 0; offset < entries.byteLength; offset += ENTRY_BYTES) {
    if (entries.getBigUint64(offset, true) === hash) seqs.push(entries.getUint32(offset + 8, true));
  }
  return seqs;
}

export function addKeys(db: Db, added: readonly KeyEntry[]): void {
  const byBlock = Map.groupBy(added, ({ hash }) => hash % BLOCKS);
  for (const [block, entries] of byBlock) {
    const before = readBlock(db, block);
    const bytes = new Uint8Array(before.byteLength + entries.length * ENTRY_BYTES);
    bytes.set(new Uint8Array(before.buffer, before.byteOffset, before.byteLength));
    const view = new DataView(bytes.buffer);
    entries.forEach(({ hash, seq }, index) => {
      const offset = before.byteLength + index * ENTRY_BYTES;
      view.setBigUint64(offset, hash, true);
      view.setUint32(offset + 8, seq, true);
    });
    db.run(
      "INSERT INTO key_block (block, entries) VALUES (?, ?) ON CONFLICT (block) DO UPDATE SET entries = excluded.entries",
      Number(block),
      bytes.buffer,
    );
  }
}

function readBlock(db: Db, block: bigint): DataView {
  const row = db.one<{ entries: ArrayBuffer }>(
    "SELECT entries FROM key_block WHERE block = ?",
    Number(block),
  );
  return new DataView(row?.entries ?? new ArrayBuffer(0));
}
