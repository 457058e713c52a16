import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { Waiters } from "../../src/actor/waiters.ts";
import { PerdureError } from "../../src/base/errors.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { callObject, classifyCallFailure, isOlder } from "../../src/base/call-object.ts";
import { call, expectProblem, spawnDoor } from "../support/api.ts";
import { untilTrue } from "../support/until.ts";

const lost = () => Object.assign(new Error("gone"), { durableObjectReset: true });

/** A namespace whose first stubs fail; each stub is used once, as a broken one has to be. */
function objects(failures: (() => unknown)[]) {
  const made: { used: number }[] = [];
  const namespace = {
    getByName(name: string) {
      const stub = { used: 0 };
      made.push(stub);
      const fail = failures[made.length - 1];
      return {
        async ask() {
          stub.used += 1;
          if (fail) throw fail();
          return name;
        },
      };
    },
  };
  return { namespace, made };
}

describe("a call to an object", () => {
  it("that is lost is made again through a new stub", async () => {
    const { namespace, made } = objects([lost, lost]);
    expect(await callObject(namespace, "a", true, (object) => object.ask())).toBe("a");
    expect(made.map(({ used }) => used)).toEqual([1, 1, 1]);
  });

  it("is made three times at most", async () => {
    const { namespace, made } = objects([lost, lost, lost, lost]);
    const error = await callObject(namespace, "a", true, (object) => object.ask()).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(PerdureError);
    expect(error).toMatchObject({ failure: { code: "unavailable" }, cause: { message: "gone" } });
    expect(made).toHaveLength(LIMITS.callAttempts);
  });

  it("that nothing makes safe to repeat is made once", async () => {
    const { namespace, made } = objects([lost]);
    await expect(() => callObject(namespace, "a", false, (object) => object.ask())).rejects.toThrow(
      PerdureError,
    );
    expect(made).toHaveLength(1);
  });

  it("to an overloaded object is not made again", async () => {
    const overloaded = () =>
      Object.assign(new Error("busy"), { overloaded: true, retryable: true });
    const { namespace, made } = objects([overloaded]);
    await expect(() => callObject(namespace, "a", true, (object) => object.ask())).rejects.toThrow(
      /overloaded/,
    );
    expect(made).toHaveLength(1);
  });

  it("to one that still runs the version before is not made again, and may be later", async () => {
    const shard = () => env.DIRECTORY.getByName("older") as unknown as { newest(): Promise<null> };
    const asked = vi.fn(shard);
    const calling = callObject({ getByName: asked }, "older", true, (object) => object.newest());
    await expect(calling).rejects.toMatchObject({ failure: { code: "unavailable" } });
    expect(asked).toHaveBeenCalledTimes(1);
    expect(isOlder(await calling.catch((error: unknown) => error))).toBe(true);
    expect(isOlder(new Error('The RPC receiver does not implement "x".'))).toBe(false);
  });

  it("whose own code threw is a fault of ours and not made again", async () => {
    const bug = () => Object.assign(new Error("bug"), { remote: true, retryable: true });
    const { namespace, made } = objects([bug]);
    await expect(() => callObject(namespace, "a", true, (object) => object.ask())).rejects.toThrow(
      "bug",
    );
    expect(made).toHaveLength(1);
  });
});

describe("what a call threw", () => {
  it("is told apart by its properties, and by its text where it has none", () => {
    const kinds = [
      [{ retryable: true }, "lost"],
      [{ durableObjectReset: true }, "lost"],
      [{ overloaded: true, retryable: true }, "overloaded"],
      [{ retryable: true, remote: true }, "bug"],
      [{ durableObjectReset: true, remote: true }, "lost"],
      [{ message: "Durable Object reset because its code was updated." }, "lost"],
      [{ message: "Connection closed: this Durable Object instance is no longer active." }, "lost"],
      [{ message: "Durable Object is overloaded. Too many requests queued." }, "overloaded"],
      [{ message: 'The RPC receiver does not implement the method "rules".' }, "older"],
      [{ message: 'The RPC receiver does not implement "rules".', remote: true }, "older"],
      [{ message: "internal error; reference = jni3bhqbacc9q6obh7fk8tdt" }, "failing"],
      [{ message: "internal error", remote: true }, "failing"],
      [{ message: "database or disk is full: SQLITE_FULL", remote: true }, "failing"],
      [{ message: "UNIQUE constraint failed: log.seq: SQLITE_CONSTRAINT" }, "bug"],
      [{ message: "An internal error; reference = a" }, "bug"],
      [{ message: 'Event "The RPC receiver does not implement" is none' }, "bug"],
      [{ message: "x is not a function" }, "bug"],
      ["thrown text", "bug"],
      [null, "bug"],
    ] as const;
    for (const [error, kind] of kinds) expect(classifyCallFailure(error)).toBe(kind);
  });
});

describe("a platform that fails", () => {
  it("is a 503 that may be repeated, and says nothing about the inside", async () => {
    const log = vi.spyOn(console, "warn").mockImplementation(() => {});
    const { namespace } = objects([lost, lost, lost]);
    const broken = { getByName: (name: string) => proxied(namespace.getByName(name)) };
    const answer = await call("GET", "/v1/definitions", { env: { REGISTRY: broken as never } });
    expectProblem(answer, 503, "unavailable");
    expect(answer.body.retryable).toBe(true);
    expect(answer.headers.get("Retry-After")).toBe("1");
    expect(JSON.stringify(answer.body)).not.toContain("gone");
    const messages = log.mock.calls.map(([line]) => JSON.parse(line).message);
    expect(messages).toContain("gone");
    log.mockRestore();
  });
});

describe("an object that is reset under a call", () => {
  it("is asked again, so that who waits does not notice", async () => {
    const path = await spawnDoor();
    const id = path.split("/").at(-1);
    const until = vi.spyOn(Waiters.prototype, "until");
    const waiting = call("GET", `${path}/wait?state=open&timeoutMs=50000`);
    await untilTrue(() => until.mock.calls.some(([{ envelope }]) => envelope.id === id));
    until.mockRestore();
    const actor = env.ACTORS.getByName(`default/${id}`);
    const abort = (_object: unknown, state: DurableObjectState) => state.abort("reset by a test");
    await runInDurableObject(actor as unknown as DurableObjectStub, abort).catch(() => {});
    await call("POST", `${path}/events`, { body: { type: "OPEN" } });
    expect((await waiting).body).toMatchObject({ matched: true, actor: { stateValue: "open" } });
  });
});

function proxied(object: { ask(): Promise<unknown> }): object {
  return new Proxy(object, { get: () => () => object.ask() });
}
