import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { ask } from "./exchange.ts";
import { fits } from "./fits.ts";
import type { Manifest, Request } from "./manifest.ts";

const PATIENCE_MS = 60_000;
/** Members that tell the time of the answer. */
const OF_THE_MOMENT = new Set(["asOf"]);

type Parts = Omit<Manifest, "step" | "commit" | "writtenAt">;

class Refused extends Error {
  readonly answer: JsonObject;

  constructor(message: string, answer: JsonObject) {
    super(`${message} ${JSON.stringify(answer)}`);
    this.answer = answer;
  }
}

/** Plays scenes on a server, and writes down what it says and what must come of it. */
export class Scribe {
  url = "";
  readonly manifest: Parts = {
    actors: [],
    reads: [],
    repeats: [],
    becomes: [],
    calls: [],
    messages: [],
    tasks: {},
    next: [],
  };
  readonly #last: (() => Promise<void>)[] = [];
  readonly #underWay: { ids: string[]; begin: () => Promise<void> }[] = [];
  #keys = 0;

  /** Asks, and insists on success. */
  async ask(method: string, path: string, body?: JsonValue): Promise<JsonObject> {
    const request = this.#request(method, path, body);
    const { status, body: answer } = await ask(this.url, request);
    if (status >= 300) throw new Refused(`${method} ${path}: ${status}`, answer as JsonObject);
    // Keys of actors live as long as they do; others are forgotten after a while.
    const ofActor = method === "POST" && /^\/v1\/actors(\/.*)?$/.test(path);
    if (ofActor && !path.endsWith("/advance") && !path.endsWith("/bulk")) {
      this.manifest.repeats.push({ ...request, status, answer });
    }
    return answer as JsonObject;
  }

  /** Also where some actors cannot follow. */
  async deploy(id: string, definition: JsonValue, rule: JsonObject = {}): Promise<JsonObject> {
    const request = { id, definition, ...rule };
    try {
      return await this.ask("PUT", "/v1/definitions", request);
    } catch (error) {
      const plan = error instanceof Refused && (error.answer["plan"] as JsonObject | undefined);
      if (!plan) throw error;
      const token = plan["confirmToken"] as string;
      return this.ask("PUT", "/v1/definitions", { ...request, confirmToken: token });
    }
  }

  async spawn(definitionId: string, id: string, more: JsonObject = {}): Promise<JsonObject> {
    this.manifest.actors.push(id);
    return this.ask("POST", "/v1/actors", { definitionId, id, ...more });
  }

  /** Of actors that are all alike: every tenth is looked at alone. */
  async spawnMany(definitionId: string, ids: string[]): Promise<void> {
    this.manifest.actors.push(...ids.filter((_, n) => n % 10 === 7));
    const actors = ids.map((id) => ({ definitionId, id }));
    await this.ask("POST", "/v1/actors/bulk", { actors });
  }

  async send(id: string, type: string, payload?: JsonObject): Promise<JsonObject> {
    return this.ask("POST", `/v1/actors/${id}/events`, { type, ...(payload && { payload }) });
  }

  /** Spawned and deleted again: nothing of it is known. */
  async erase(id: string): Promise<void> {
    const { manifest } = this;
    await this.ask("DELETE", `/v1/actors/${id}`);
    manifest.actors = manifest.actors.filter((other) => other !== id);
    const path = new RegExp(`^/v1/actors/${id}(/|$)`);
    const isOf = ({ path: of, body }: Request) =>
      path.test(of) || (body as JsonObject | undefined)?.["id"] === id;
    manifest.repeats = manifest.repeats.filter((request) => !isOf(request));
    this.reads(`/v1/actors/${id}`);
  }

  /** Asks until the answer has these members. */
  async until(path: string, wanted: JsonObject): Promise<JsonObject> {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      const { body } = await ask(this.url, { method: "GET", path });
      if (fits(body, wanted)) return body as JsonObject;
      if (Date.now() > end) throw new Error(`${path}: ${JSON.stringify(body)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** What is read at the end, and must be read so for ever. */
  reads(...paths: string[]): void {
    for (const path of paths) this.manifest.reads.push({ method: "GET", path, status: 0 });
  }

  /** An actor that nothing happens to any more. */
  rests(...ids: string[]): void {
    for (const id of ids) {
      const path = `/v1/actors/${id}`;
      this.reads(path, `${path}/events?limit=200`, `${path}/schedule`);
    }
  }

  becomes(path: string, answer: JsonObject): void {
    this.manifest.becomes.push({ method: "GET", path, status: 200, answer });
  }

  next(method: string, path: string, status: number, body?: JsonValue, answer?: JsonValue): void {
    this.manifest.next.push({
      ...this.#request(method, path, body),
      status,
      ...(answer !== undefined && { answer }),
    });
  }

  nextRead(path: string, answer: JsonObject): void {
    this.next("GET", path, 200, undefined, answer);
  }

  /** To be done right before the server is killed. */
  atLast(work: () => Promise<void>): void {
    this.#last.push(work);
  }

  /** Begun at the very last. The kill comes when some of these actors have a second record, and before all have. */
  killAmong(ids: string[], begin: () => Promise<void>): void {
    this.#underWay.push({ ids, begin });
  }

  async readAll(): Promise<void> {
    for (const read of this.manifest.reads) {
      const { status, body } = await ask(this.url, read);
      Object.assign(read, { status, answer: lasting(body) });
    }
  }

  async doLast(): Promise<void> {
    for (const work of this.#last) await work();
    for (const { begin } of this.#underWay) await begin();
    await Promise.all(this.#underWay.map(async ({ ids }) => this.#someWereSeen(ids)));
  }

  async #someWereSeen(ids: string[]): Promise<void> {
    for (let seen = 0; seen === 0;) {
      const views = ids.map(async (id) => this.until(`/v1/actors/${id}`, {}));
      seen = (await Promise.all(views)).filter(({ seq }) => seq !== 1).length;
      if (seen === ids.length) throw new Error(`${ids[0]} and the others: all was over.`);
    }
  }

  #request(method: string, path: string, body?: JsonValue): Request {
    this.#keys += 1;
    return {
      method,
      path,
      ...(method === "POST" && { key: `old-${this.#keys}` }),
      ...(body !== undefined && { body }),
    };
  }
}

function lasting(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(lasting);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([name]) => !OF_THE_MOMENT.has(name));
  return Object.fromEntries(members.map(([name, member]) => [name, lasting(member)]));
}
