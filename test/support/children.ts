import { expect } from "vitest";
import { actorNow, deployed } from "./actors.ts";
import type { Body } from "./api.ts";
import { until } from "./until.ts";

/** A child that waits to be told how to end. Its output is its input, and what it was told. */
export const CHILD = {
  initial: "working",
  context: { given: { "@expr": "has(input.given) ? input.given : null" }, said: null },
  output: { "@expr": "{'given': context.given, 'said': context.said}" },
  states: {
    working: {
      on: {
        END: {
          target: "ended",
          actions: {
            type: "@xstate.assign",
            context: { said: { "@expr": "has(event.said) ? event.said : null" } },
          },
        },
      },
    },
    ended: { type: "final" },
  },
};

/** A child that is done as soon as it begins; its output is its input. */
export const QUICK_CHILD = {
  initial: "working",
  context: { given: { "@expr": "input" } },
  output: { "@expr": "context.given" },
  states: {
    working: { always: { target: "ended", guard: { "@expr": "context.given != 'never'" } } },
    ended: { type: "final" },
  },
};

/** A parent that spawns children when it is told to, and says how that went by its state. */
export function parentOf(input: object, more: object = {}): object {
  return {
    initial: "idle",
    context: { got: null },
    states: {
      idle: { on: { GO: "waiting" } },
      waiting: {
        invoke: {
          id: "family",
          src: "actor",
          input,
          onDone: { target: "joined", actions: noted("event.output") },
          onError: { target: "failed", actions: noted("event.error") },
          ...more,
        },
        on: { LEAVE: "idle", END: "over" },
      },
      joined: { on: { GO: "waiting" } },
      failed: { on: { GO: "waiting" } },
      over: { type: "final" },
    },
  };
}

function noted(expression: string): object {
  return { type: "@xstate.assign", context: { got: { "@expr": expression } } };
}

/** The actor, as soon as it is so. */
export async function actorWhen(id: string, wanted: (actor: Body) => boolean): Promise<Body> {
  const actor = await until(() => actorNow(id), wanted);
  expect(wanted(actor), JSON.stringify(actor)).toBe(true);
  return actor;
}

/** The ids of the children that an actor has spawned, as its outgoing log says. */
export function derivedId(uid: string, ref: string, index?: number): string {
  const stem = `${uid}.${ref.replace(":", ".")}`;
  return index === undefined ? stem : `${stem}.${index}`;
}

/** A definition of children, and one of parents of them. */
export async function family(child: object, input: object, more: object = {}): Promise<string> {
  const definitionId = await deployed(child);
  return await deployed(parentOf({ definitionId, ...input }, more));
}
