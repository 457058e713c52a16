import type { Call } from "../../../examples/outside/receiver.ts";
import type { Fault } from "../../../examples/outside/faults.ts";
import type { History } from "./history.ts";
import type { Mortal } from "./killer.ts";

/** An order that a client places, and what must become of it whatever dies on the way. */
export interface Order {
  id: string;
  events: { type: string; payload: object; key: string }[];
  state: string;
  /** Effects outside, in their order. */
  effects: string[];
}

/** Sent and acknowledged; the number of its record is what the answer said. */
export interface Acknowledged {
  actorId: string;
  key: string;
  seq: number;
}

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

export function orderOf(id: string, random: () => number): Order {
  const way = WAYS[Math.floor(random() * WAYS.length)] ?? WAYS[0]!;
  const { price, quantity, address, state, effects } = way;
  const add = { type: "ADD", payload: { sku: "thing", quantity, price } };
  const place = { type: "PLACE", payload: { address } };
  const events = [add, place].map((event) => ({ ...event, key: `${id}-${event.type}` }));
  return { id, events, state, effects };
}

/** Spawns an order and sends its events, each until it is acknowledged. */
export async function place(
  order: Order,
  outside: string,
  server: Mortal,
  history: History,
): Promise<Acknowledged[]> {
  const { id } = order;
  const input = { outside, customer: `${id}@example.com` };
  const spawn = { definitionId: "order-v1", id, input };
  const spawned = await server.call("POST", "/v1/actors", `${id}-spawn`, spawn);
  if (spawned.status !== 201) throw new Error(`${id}: ${JSON.stringify(spawned)}`);
  const acknowledged: Acknowledged[] = [];
  for (const { key, ...event } of order.events) {
    const { status, body } = await server.call("POST", `/v1/actors/${id}/events`, key, event);
    history.note("answered", { id, key, status, seq: body.seq });
    if (status !== 200 || !body.handled) throw new Error(`${id}: ${JSON.stringify(body)}`);
    acknowledged.push({ actorId: id, key, seq: body.seq });
  }
  return acknowledged;
}

/**
 * Faults at the first two requests of a key, so that none of them uses up an order's five attempts. About every third
 * request meets one.
 */
export function faultsBy(random: () => number, history: History): (call: Call) => Fault | null {
  const seen = new Map<string, number>();
  const faults: Fault[] = [
    { what: "fail" },
    { what: "fail", status: 429 },
    { what: "drop" },
    { what: "close" },
    { what: "hang" },
    { what: "late", ms: 300 },
    { what: "late", ms: 2_500 },
    { what: "twice" },
  ];
  return ({ key, service }) => {
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    // Slow enough that kills find it under way.
    const slow: Fault = { what: "late", ms: Math.floor(random() * 80) };
    const fault = random() < 0.35 ? (faults[Math.floor(random() * faults.length)] ?? slow) : slow;
    history.note("called", { key, service, count, fault: count > 2 ? null : fault });
    return count > 2 ? null : fault;
  };
}
