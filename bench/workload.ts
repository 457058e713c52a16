/** The four events that each loan gets after its spawn, as bodies on the wire. */
export const EVENTS = [
  { type: "SUBMIT_INFO", payload: { applicant: "Ann", amount: 12_000 } },
  { type: "PAY_FEE", payload: { amount: 50 } },
  { type: "ADD_DOCUMENT", payload: { name: "passport.pdf" } },
  { type: "ADD_DOCUMENT", payload: { name: "payslip.pdf" } },
].map((event) => JSON.stringify(event));

/** Body of the event with this index; the last one of the four again and again. */
export function eventOf(index: number): string {
  return EVENTS[Math.min(index, EVENTS.length - 1)] ?? "";
}

/** Where each of them leads. */
export const STATES = [
  "awaiting_fee",
  "awaiting_documents",
  "awaiting_documents",
  "awaiting_documents",
];
