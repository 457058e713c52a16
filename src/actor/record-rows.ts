import { decodeRecord, encodeBody } from "../lifecycle/record.ts";
import type { LogRecord, RecordKind } from "../lifecycle/types.ts";
import type { RecordRow } from "../storage/actor-log.ts";

export function rowOf(record: LogRecord): RecordRow {
  const { seq, at, kind, key, request } = record;
  return { seq, at, kind, key, request, body: encodeBody(record) };
}

export function recordOf(row: RecordRow): LogRecord {
  return decodeRecord({ ...row, kind: row.kind as RecordKind }, row.body);
}
