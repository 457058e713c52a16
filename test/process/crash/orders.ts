import { oneOf } from "./dice.ts";
import type { Job } from "./job.ts";

const SOLD = ["payment/charge", "stock/reserve", "shipping/ship", "mail/send"];

/** Ways that an order can go: its data decides. */
const WAYS: {
  price: number;
  quantity: number;
  address: string;
  state: string;
  effects: string[];
}[] = [
  { price: 90, quantity: 2, address: "Main Street 1", state: "completed", effects: SOLD },
  { price: 20, quantity: 7, address: "Main Street 2", state: "completed", effects: SOLD },
  {
    price: 90,
    quantity: 1,
    address: "Nowhere",
    state: "cancelled",
    effects: ["payment/charge", "stock/reserve", "stock/release", "payment/refund"],
  },
  {
    price: 1,
    quantity: 101,
    address: "Main Street 3",
    state: "cancelled",
    effects: ["payment/charge", "payment/refund"],
  },
  { price: 10_001, quantity: 1, address: "Main Street 4", state: "declined", effects: [] },
];

/** An order of examples/order. */
export function orderOf(id: string, outside: string, random: () => number): Job {
  const { price, quantity, address, state, effects } = oneOf(WAYS, random);
  const add = { type: "ADD", payload: { sku: "thing", quantity, price } };
  const place = { type: "PLACE", payload: { address } };
  return {
    id,
    definitionId: "order-v1",
    input: { outside, customer: `${id}@example.com` },
    events: [add, place].map((event) => ({ ...event, key: `${id}-${event.type}` })),
    paused: random() < 0.3,
    ends: [{ state, effects }],
    misfit: () => null,
    children: () => [],
  };
}
