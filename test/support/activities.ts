import { vi } from "vitest";
import type { OutboxItem } from "../../src/actor/outbox.ts";
import { actorNow, sqlIn } from "./actors.ts";
import type { Body } from "./api.ts";
import { until } from "./until.ts";

/** One call of an activity, as it left. */
export interface OutgoingCall {
  method: string;
  url: string;
  headers: Headers;
  body: string | null;
  signal: AbortSignal;
  /** Whether its caller has cut it off. */
  cut: boolean;
}

/** Answers what leaves the isolate, by `respond`; what was asked is given back. `vi.restoreAllMocks()` ends it. */
export function service(
  respond: (call: OutgoingCall, nth: number) => Response | Promise<Response>,
): OutgoingCall[] {
  const calls: OutgoingCall[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const call: OutgoingCall = {
      method: init?.method ?? "GET",
      url: String(input),
      headers: new Headers(init?.headers as HeadersInit),
      body: (init?.body as string | null | undefined) ?? null,
      signal: init?.signal as AbortSignal,
      cut: false,
    };
    call.signal.addEventListener("abort", () => (call.cut = true));
    calls.push(call);
    return await respond(call, calls.length);
  });
  return calls;
}

/** A service that never answers, as long as it is waited for. */
export function hanging({ signal }: OutgoingCall): Promise<Response> {
  const { promise, reject } = Promise.withResolvers<Response>();
  signal.addEventListener("abort", () => reject(signal.reason));
  return promise;
}

/** A machine that calls a service when it is told to, and says how that went by its state. */
export function caller(input: object, more: object = {}): object {
  return {
    initial: "idle",
    context: { got: null },
    states: {
      idle: { on: { GO: "calling" } },
      calling: {
        invoke: {
          id: "call",
          src: "http",
          input: { url: "http://service.example/", ...input },
          onDone: {
            target: "done",
            actions: { type: "@xstate.assign", context: { got: { "@expr": "event.output" } } },
          },
          onError: {
            target: "failed",
            actions: { type: "@xstate.assign", context: { got: { "@expr": "event.error" } } },
          },
          ...more,
        },
        on: { LEAVE: "idle" },
      },
      done: { on: { GO: "calling" } },
      failed: { on: { GO: "calling" } },
    },
  };
}

/** What is still to be done outside, as it is on the disk. */
export async function outboxOf(id: string): Promise<OutboxItem[]> {
  const [row] = await sqlIn<{ outbox: string }>(id, "SELECT outbox FROM actor");
  return JSON.parse(row?.outbox || "[]") as OutboxItem[];
}

/** The actor, as soon as it is in that state. */
export async function arrived(id: string, state: string): Promise<Body> {
  return await until(
    () => actorNow(id),
    ({ stateValue }) => stateValue === state,
  );
}
