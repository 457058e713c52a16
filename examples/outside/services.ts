import { createHash } from "node:crypto";
import { chat, classify, draft } from "./model.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- what strangers send: each service takes what it needs
export type Body = Record<string, any>;

export interface Reply {
  status: number;
  body: object;
}

/** What a service does for a body under a key. It may be asked twice; what happens twice is not its concern. */
type Service = (body: Body, key: string) => Reply;

/** The outside world of the examples, by path. Whoever asks for too much, or for nowhere, is refused for good. */
export const SERVICES: Record<string, Service> = {
  "payment/charge": ({ amount }, key) => {
    if (amount > 10_000) return refused(402, "declined", "the card does not have that much");
    return done({ chargeId: idOf("charge", key), amount });
  },
  "payment/refund": ({ chargeId }, key) => done({ refundId: idOf("refund", key), chargeId }),
  "stock/reserve": ({ lines }, key) => {
    const asked = (lines as { quantity: number }[]).some(({ quantity }) => quantity > 100);
    if (asked) return refused(409, "sold_out", "there are not that many");
    return done({ reservationId: idOf("reservation", key) });
  },
  "stock/release": ({ reservationId }) => done({ reservationId, released: true }),
  "shipping/ship": ({ address }, key) => {
    if (address === "Nowhere") return refused(422, "no_carrier", "no carrier goes there");
    return done({ parcelId: idOf("parcel", key) });
  },
  "mail/send": (_, key) => done({ mailId: idOf("mail", key) }),
  "model/chat": ({ messages }) => done(chat(messages)),
  "model/classify": ({ text }) => done(classify(text)),
  "model/draft": ({ mail, customer, comment }) => done(draft(mail, customer, comment)),
  "tools/add": ({ a, b }) => done({ result: a + b }),
  "customers/find": ({ email }) => done({ email, name: nameOf(email), since: 2019 }),
};

function done(body: object): Reply {
  return { status: 200, body };
}

function refused(status: number, code: string, message: string): Reply {
  return { status, body: { code, message } };
}

/** One key, one id. */
function idOf(kind: string, key: string): string {
  return `${kind}-${createHash("sha256").update(key).digest("hex").slice(0, 12)}`;
}

function nameOf(email: string): string {
  const name = email.split("@")[0] ?? "";
  return name.charAt(0).toUpperCase() + name.slice(1);
}
