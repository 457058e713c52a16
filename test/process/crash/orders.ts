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
  const { price, quantity, address, state, effects } = oneOf(WAYS, random);
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

/** Faults after which a request has to be made again, and others; `late` is about an order's timeout of 2,000 ms. */
const DEMANDING: Fault[] = [
  { what: "fail" },
  { what: "fail", status: 429 },
  { what: "drop" },
  { what: "close" },
  { what: "hang" },
  { what: "late", ms: 3_000 },
];
const HARMLESS: Fault[] = [{ what: "late", ms: 300 }, { what: "twice" }];

/**
 * Faults at the first two requests of a key, so that none of them uses up an order's five attempts. About every third
 * request meets one.
 */
export class Faults {
  readonly #random: () => number;
  readonly #history: History;
  readonly #seen = new Map<string, number>();
  #demanding = 0;

  constructor(random: () => number, history: History) {
    this.#random = random;
    this.#history = history;
  }

  of({ key, service }: Call): Fault | null {
    const count = (this.#seen.get(key) ?? 0) + 1;
    this.#seen.set(key, count);
    const fault = count > 2 ? null : this.#dice();
    if (fault !== null && DEMANDING.includes(fault)) this.#demanding += 1;
    this.#history.note("called", { key, service, count, fault });
    return fault;
  }

  /** Of so many requests in all, those that only a kill explains. */
  repeatedByKills(calls: number): number {
    return calls - this.#seen.size - this.#demanding;
  }

  #dice(): Fault {
    const dice = this.#random();
    if (dice < 0.3) return oneOf(DEMANDING, this.#random);
    if (dice < 0.4) return oneOf(HARMLESS, this.#random);
    // Slow enough that kills find it under way.
    return { what: "late", ms: Math.floor(this.#random() * 80) };
  }
}

function oneOf<Item>(items: readonly Item[], random: () => number): Item {
  return items[Math.floor(random() * items.length)] as Item;
}
