/** characters; each mark has one, in the snapshot and in the directory. */
const REASON_CHARS = 300;

/** Why an actor has no place in a version, as plans, marks and records say it. */
export function reasonText({ code, message }: { code: string; message: string }): string {
  const text = `${code}: ${message}`;
  return text.length > REASON_CHARS ? `${text.slice(0, REASON_CHARS - 1).toWellFormed()}…` : text;
}
