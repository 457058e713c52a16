// What the demo plays with the services of examples/outside.
import type { Outside } from "../examples/outside/server.ts";
import type { Client } from "../src/sdk/index.ts";
import { chapter, fact, machine } from "./demo-plays.ts";

const PATIENCE_MS = 30_000;

async function order(client: Client, outside: Outside, id: string, address: string) {
  const input = { outside: outside.url, customer: `${id}@example.com` };
  await client.spawn("order-v1", { id, input });
  await client.sendEvent(id, "ADD", { sku: "chair", quantity: 4, price: 90 });
  await client.sendEvent(id, "PLACE", { address });
}

async function endOf(client: Client, id: string): Promise<unknown> {
  const { actor } = await client.waitFor(id, { done: true }, { timeoutMs: PATIENCE_MS });
  return actor.stateValue;
}

/** What the services did for an order, in order. */
function effectsFor({ receiver }: Outside, id: string): string[] {
  return receiver.effects.filter(({ body }) => body["orderId"] === id).map((one) => one.service);
}

function callsFor({ receiver }: Outside, id: string): number {
  const charge = receiver.effects.find(({ body }) => body["orderId"] === id);
  return charge === undefined ? 0 : receiver.callsOf(charge.key);
}

/** Leaves `order-3` with a charge that was made and never answered. */
export async function playOrders(client: Client, outside: Outside): Promise<void> {
  chapter("An order: charge, reserve, ship, confirm, each a call to another service");
  await client.deploy("order-v1", await machine("order"));
  await order(client, outside, "order-1", "Main Street 1");
  fact("order-1 is completed", await endOf(client, "order-1"), "completed");
  const steps = ["payment/charge", "stock/reserve", "shipping/ship", "mail/send"];
  fact("each service did its part once", effectsFor(outside, "order-1"), steps);

  await order(client, outside, "order-2", "Nowhere");
  fact("no carrier takes order-2", await endOf(client, "order-2"), "cancelled");
  fact("what was done for it is undone, newest first", effectsFor(outside, "order-2").slice(2), [
    "stock/release",
    "payment/refund",
  ]);

  outside.plan({ service: "payment/charge", what: "hang" });
  await order(client, outside, "order-3", "Main Street 3");
  const end = Date.now() + PATIENCE_MS;
  while (callsFor(outside, "order-3") === 0 && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  fact("order-3 is charged, and the payment service hangs", callsFor(outside, "order-3") > 0, true);
}

/** After a crash. */
export async function finishOrder(client: Client, outside: Outside): Promise<void> {
  fact("order-3 goes on by itself, and is completed", await endOf(client, "order-3"), "completed");
  // A machine that is late with an answer makes it more than twice.
  fact("the payment service was asked again, with one key", callsFor(outside, "order-3") > 1, true);
  const charges = effectsFor(outside, "order-3").filter((service) => service === "payment/charge");
  fact("so it charged once", charges.length, 1);
  for (const id of ["order-1", "order-2", "order-3"]) {
    fact(`${id}: the log leads to the same actor`, await client.replay(id), { identical: true });
  }
}
