// What a Durable Object costs that does one thing: it writes down what it is told, then answers.
import { DurableObject } from "cloudflare:workers";

const TABLE =
  "CREATE TABLE IF NOT EXISTS log (seq INTEGER PRIMARY KEY, key TEXT, body TEXT NOT NULL) STRICT";

export class BareObject extends DurableObject {
  #hasTable = false;

  append(key, body) {
    const { sql } = this.ctx.storage;
    // In the constructor it would be a commit of its own: one more fsync for each create.
    if (!this.#hasTable) sql.exec(TABLE);
    this.#hasTable = true;
    return sql.exec("INSERT INTO log (key, body) VALUES (?, ?) RETURNING seq", key, body).one().seq;
  }
}

const INSTANCE = /^\/instances\/([\w.:-]+)(\/events)?$/;

const worker = {
  async fetch(request, env) {
    const [, name, events] = INSTANCE.exec(new URL(request.url).pathname) ?? [];
    if (name === undefined) return Response.json({ status: "ok" });
    const key = request.headers.get("Idempotency-Key");
    const seq = await env.OBJECTS.getByName(name).append(key, await request.text());
    return Response.json({ id: name, seq }, { status: events ? 200 : 201 });
  },
};

// oxlint-disable-next-line import/no-default-export
export default worker;
