// A language model without the language: what it says follows from what it is told, so examples and tests can rely on it.

export interface Message {
  role: "user" | "assistant" | "tool";
  content?: string;
  toolCall?: { name: string; arguments: object };
}

interface Answer {
  message: Message;
  usage: { tokens: number };
}

/** Adds up the numbers of the first message, one call of the tool `add` at a time, and then says the sum. */
export function chat(messages: Message[]): Answer {
  const numbers = (messages[0]?.content?.match(/\d+/g) ?? []).map(Number);
  const results = messages
    .filter(({ role, content }) => role === "tool" && /^\d+$/.test(content ?? ""))
    .map(({ content }) => Number(content));
  const total = results.at(-1) ?? numbers[0] ?? 0;
  const next = numbers[results.length + 1];
  const message: Message =
    next === undefined
      ? { role: "assistant", content: `The sum is ${total}.` }
      : { role: "assistant", toolCall: { name: "add", arguments: { a: total, b: next } } };
  // About four characters a token, as models count.
  return { message, usage: { tokens: Math.ceil(JSON.stringify([messages, message]).length / 4) } };
}

export function classify(text: string): { category: "spam" | "complaint" | "question" } {
  if (/winner|casino|prize/i.test(text)) return { category: "spam" };
  return { category: /broken|late|refund|angry/i.test(text) ? "complaint" : "question" };
}

/** A draft of an answer; with a comment of whoever did not like the last one, a better one. */
export function draft(
  mail: { subject: string; category: string },
  customer: { name: string; since: number },
  comment: string | null,
): { text: string } {
  const opening = mail.category === "complaint" ? "We are sorry" : "Thank you for asking";
  const lines = [
    `Dear ${customer.name},`,
    `${opening} about "${mail.subject}". You are with us since ${customer.since}, and we will see to it today.`,
    ...(comment === null ? [] : [`(Changed: ${comment})`]),
  ];
  return { text: lines.join("\n") };
}
