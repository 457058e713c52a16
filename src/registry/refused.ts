export { asData, given } from "../base/refused.ts";
export type { Refused } from "../base/refused.ts";
