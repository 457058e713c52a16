/**
 * Whether two texts are equal, in a time that depends on their lengths only. For digests and other
 * texts whose length is no secret.
 */
export function constantTimeEqual(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i % b.length);
  return difference === 0;
}
