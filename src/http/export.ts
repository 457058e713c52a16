import type { Reply } from "../base/reply.ts";
import type { ActorRpc, Address } from "../actor/rpc.ts";
import { actorObjectName } from "../base/ids.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { Env } from "../env.ts";
import type { AppContext } from "./app-env.ts";
import { problem } from "./problem.ts";
import { callObject } from "../base/call-object.ts";

const encoder = new TextEncoder();

type LogPage = { items: JsonValue[]; nextAfter: number | null };

/** An actor's export, written while its log is read page by page: it may be larger than memory. */
export async function exportActor(c: AppContext, env: Env, address: Address): Promise<Response> {
  const name = actorObjectName(address.tenant, address.id);
  const ask = (call: (actor: ActorRpc) => Promise<Reply>) =>
    callObject(env.ACTORS, name, true, call);
  const head = await ask((actor) => actor.exportHead(address));
  if (!head.ok) return problem(c, head.failure);
  const {
    envelope,
    outbox = [],
    definitions,
  } = head.body as unknown as {
    envelope: JsonObject & { uid: string; seq: number };
    /** Not of an object of the version before. */
    outbox?: JsonValue;
    definitions: JsonValue;
  };

  let after: number | null = 0;
  let separator = "";
  const { uid, seq: through } = envelope;
  const begin = `{"envelope":${JSON.stringify(envelope)},"outbox":${JSON.stringify(outbox)},"definitions":${JSON.stringify(definitions)},"log":[`;
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(begin));
    },
    // A failure here breaks the connection: half a document must not look like a whole one.
    async pull(controller) {
      if (after === null) {
        controller.enqueue(encoder.encode("]}"));
        controller.close();
        return;
      }
      const from: number = after;
      const page = await ask((actor) => actor.exportLog({ ...address, uid, after: from, through }));
      if (!page.ok) throw new Error(`The export of an actor broke off: ${page.failure.code}`);
      const { items, nextAfter } = page.body as unknown as LogPage;
      after = nextAfter;
      let text = "";
      for (const item of items) {
        text += separator + JSON.stringify(item);
        separator = ",";
      }
      if (text !== "") controller.enqueue(encoder.encode(text));
    },
  });
  return c.body(stream, 200, { "Content-Type": "application/json" });
}
