/** Appends one reference token to a JSON pointer (RFC 6901). */
export function at(pointer: string, token: string | number): string {
  return `${pointer}/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
