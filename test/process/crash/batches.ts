import type { JsonObject } from "../../../src/sdk/index.ts";
import type { Job } from "./job.ts";
import { assign, value } from "./template.ts";

/** A child: one call, and two messages to its parent. */
export const PARCEL = {
  id: "parcel",
  initial: "shipping",
  context: {
    outside: value("input.outside"),
    orderId: value("input.orderId"),
    n: value("input.n"),
  },
  output: { n: value("context.n") },
  states: {
    shipping: {
      invoke: {
        id: "ship",
        src: "http",
        input: {
          method: "POST",
          url: value('context.outside + "/shipping/ship"'),
          body: {
            orderId: value("context.orderId"),
            n: value("context.n"),
            address: "Main Street 1",
          },
          timeoutMs: 2_000,
          retry: { initialMs: 500 },
        },
        onDone: "shipped",
        onError: "lost",
      },
    },
    shipped: {
      type: "final",
      entry: ["first", "second"].map((word) => ({
        type: "@xstate.sendTo",
        to: "#_parent",
        event: { type: "SHIPPED", word: { "@expr": `string(context.n) + " ${word}"` } },
      })),
    },
    lost: { type: "final" },
  },
};

/** Children, their join and their messages, then a task for a worker, then a call. */
export const BATCH = {
  id: "batch",
  initial: "shipping",
  context: {
    outside: value("input.outside"),
    parcels: value("input.parcels"),
    shipped: [],
    heard: [],
    signature: null,
  },
  on: { SHIPPED: { actions: assign({ heard: value("context.heard + [event.word]") }) } },
  states: {
    shipping: {
      invoke: {
        id: "parcels",
        src: "actor",
        input: { definitionId: "parcel-v1", forEach: value("context.parcels") },
        onDone: { target: "signing", actions: assign({ shipped: value("event.output") }) },
        onError: "failed",
      },
    },
    signing: {
      invoke: {
        id: "sign",
        src: "task",
        input: {
          queue: "signing",
          input: { batch: value("self.id") },
          leaseMs: 1_000,
          retry: { maxAttempts: 50, initialMs: 100, maxMs: 500 },
        },
        onDone: { target: "listening", actions: assign({ signature: value("event.output") }) },
        onError: "failed",
      },
    },
    listening: {
      always: {
        target: "telling",
        guard: value("size(context.heard) >= 2 * size(context.parcels)"),
      },
      after: { 60_000: "failed" },
    },
    telling: {
      invoke: {
        id: "tell",
        src: "http",
        input: {
          method: "POST",
          url: value('context.outside + "/mail/send"'),
          body: { orderId: value("self.id"), text: "All of it is on its way." },
          timeoutMs: 2_000,
          retry: { initialMs: 500 },
        },
        onDone: "done",
        onError: "failed",
      },
    },
    done: { type: "final" },
    failed: { type: "final" },
  },
};

export function batchOf(id: string, outside: string, random: () => number): Job {
  const count = 1 + Math.floor(random() * 4);
  const parcels = Array.from({ length: count }, (_, n) => ({ outside, orderId: id, n }));
  return {
    id,
    definitionId: "batch-v1",
    input: { outside, parcels },
    events: [],
    paused: random() < 0.3,
    ends: [{ state: "done", effects: [...parcels.map(() => "shipping/ship"), "mail/send"] }],
    misfit: (context) => misfit(context, count),
    children: ({ shipped }) => (shipped as { id: string }[]).map(({ id: child }) => child),
  };
}

/** Each child's output in its place, each of its messages once and in their order, and a worker's signature. */
function misfit({ shipped, heard, signature }: JsonObject, count: number): unknown {
  const places = (shipped as { output: { n: number } }[]).map(({ output }) => output.n);
  const words = heard as string[];
  const wrong = Array.from({ length: count }, (_, n) => n).filter((n) => {
    const said = words.filter((word) => word.startsWith(`${n} `)).join();
    return places[n] !== n || said !== `${n} first,${n} second`;
  });
  const isSigned = (signature as JsonObject | null)?.["signedBy"] !== undefined;
  const fits = wrong.length === 0 && words.length === 2 * count && places.length === count;
  return fits && isSigned ? null : { places, words, signature };
}
