/**
 * An id as one segment of a path. `.` and `..` would climb to another resource and nothing at all
 * would address the collection, so they are refused here. Throws a TypeError.
 */
export function pathId(id: string, what: string): string {
  if (typeof id !== "string" || id === "" || id === "." || id === "..") {
    throw new TypeError(`The ${what} must be a text other than "", "." and ".."`);
  }
  return encodeURIComponent(id).replaceAll("%3A", ":");
}
