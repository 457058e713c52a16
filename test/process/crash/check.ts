import type { Effect } from "../../../examples/outside/receiver.ts";
import type { Mortal } from "./killer.ts";
import type { Acknowledged, Order } from "./orders.ts";

/** The fields of a record that are looked at. */
interface Seen {
  seq: number;
  kind: string;
  key: string | null;
}

/** Everything that is wrong with an order after all kills; nothing is what a run wants to hear. */
export async function wrongWith(
  order: Order,
  acknowledged: readonly Acknowledged[],
  effects: readonly Effect[],
  server: Mortal,
): Promise<string[]> {
  const { id } = order;
  const wrong: string[] = [];
  const hold = (holds: boolean, what: string, found: unknown) => {
    if (!holds) wrong.push(`${id}: ${what}: ${JSON.stringify(found)}`);
  };

  const { body: actor } = await server.call("GET", `/v1/actors/${id}`, "-");
  hold(actor.stateValue === order.state, `is not ${order.state}`, actor.stateValue);
  hold(actor.status === "done", "is not done", actor.status);
  hold(actor.needsAttention.length === 0, "needs attention", actor.needsAttention);
  const open = actor.activities.filter(({ status }: { status: string }) =>
    ["running", "retrying"].includes(status),
  );
  hold(open.length === 0, "something is still under way", open);

  const done = effects.filter(({ body }) => body["orderId"] === id);
  const services = done.map(({ service }) => service);
  hold(
    JSON.stringify(services) === JSON.stringify(order.effects),
    `the effects are not ${order.effects.join(", ")}`,
    services,
  );
  const strangers = done.filter(({ key }) => !key.startsWith(`${actor.uid}:`));
  hold(strangers.length === 0, "a key is not of this actor", strangers);

  const log = await logOf(id, server);
  const gap = log.findIndex(({ seq }, index) => seq !== index + 1);
  hold(gap === -1 && log.length === actor.seq, "the log has a gap", log);
  for (const { key, seq } of acknowledged) {
    const found = log.filter((record) => record.key === key).map((record) => record.seq);
    hold(found.length === 1 && found[0] === seq, `${key} is not there once, as ${seq}`, found);
  }

  const { body: replay } = await server.call("POST", `/v1/actors/${id}/replay`, "-", {});
  hold(replay.identical === true, "its replay is another", replay);
  return wrong;
}

async function logOf(id: string, server: Mortal): Promise<Seen[]> {
  const { body } = await server.call("GET", `/v1/actors/${id}/events?limit=200`, "-");
  return body.items as Seen[];
}
