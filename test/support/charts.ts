import * as fc from "fast-check";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";

// Random statecharts that are valid by construction. First a bare tree of states is drawn, then every
// state is given transitions to states of that tree.

type Shape =
  | { type: "atomic" | "final" }
  | { type: "compound" | "parallel"; children: Shape[]; history: "none" | "shallow" | "deep" };

interface Node {
  shape: Shape;
  path: string[];
  parent: Node | null;
  children: Node[];
}

export const EVENTS = ["NEXT", "back", "order.paid", "a b", "constructor", "__proto__"];
const DESCRIPTORS = [...EVENTS, "*", "order.*"];
const KEYS = ["a", "b", "c", "d", "toString", "e 1", "7"];

function shapes(depth: number): fc.Arbitrary<Shape> {
  const leaf = fc.record({
    type: fc.constantFrom("atomic" as const, "atomic" as const, "final" as const),
  });
  if (depth === 0) return leaf;
  const inner = fc.record({
    type: fc.constantFrom("compound" as const, "compound" as const, "parallel" as const),
    children: fc.array(shapes(depth - 1), { minLength: 1, maxLength: 3 }),
    history: fc.constantFrom("none" as const, "none" as const, "shallow" as const, "deep" as const),
  });
  return fc.oneof({ weight: 2, arbitrary: leaf }, { weight: 3, arbitrary: inner });
}

const roots: fc.Arbitrary<Shape> = fc.record({
  type: fc.constantFrom("compound" as const, "compound" as const, "parallel" as const),
  children: fc.array(shapes(2), { minLength: 1, maxLength: 4 }),
  history: fc.constantFrom("none" as const, "shallow" as const),
});

/** How a random definition may move: by events only, also by eventless transitions and raises, or by events and results of activities. */
export type Movement = "events" | "everything" | "activities";

export function definitions(movement: Movement): fc.Arbitrary<JsonObject> {
  return fc
    .tuple(roots, fc.integer())
    .map(([shape, seed]) => new ChartWriter(drawer(seed), movement).write(shape));
}

/** Numbers below `choices` that look random and are the same for the same seed (mulberry32). */
function drawer(seed: number): (choices: number) => number {
  let state = seed;
  return (choices) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % choices;
  };
}

class ChartWriter {
  readonly #draw: (choices: number) => number;
  readonly #movement: Movement;
  readonly #all: Node[] = [];

  constructor(draw: (choices: number) => number, movement: Movement) {
    this.#draw = draw;
    this.#movement = movement;
  }

  write(shape: Shape): JsonObject {
    const root = this.#plant(shape, [], null);
    return { id: "m", context: { n: 0 }, ...this.#state(root) };
  }

  #plant(shape: Shape, path: string[], parent: Node | null): Node {
    const node: Node = { shape, path, parent, children: [] };
    this.#all.push(node);
    if ("children" in shape) {
      node.children = shape.children.map((child, index) =>
        this.#plant(child, [...path, KEYS[index] as string], node),
      );
    }
    return node;
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#draw(items.length)] as T;
  }

  #state(node: Node): Record<string, JsonValue> {
    const { shape } = node;
    const state: Record<string, JsonValue> = {};
    if (shape.type === "final")
      return { type: "final", ...this.#maybe(4, () => ({ entry: this.#actions() })) };
    if (shape.type === "parallel") state["type"] = "parallel";
    if (this.#draw(3) === 0) state["entry"] = this.#actions();
    if (this.#draw(5) === 0) state["exit"] = this.#actions();
    if (this.#draw(2) === 0) {
      state["on"] = Object.fromEntries(
        Array.from({ length: this.#draw(3) + 1 }, () => [
          this.#pick(DESCRIPTORS),
          this.#transitions(node, true),
        ]),
      );
    }
    if (this.#draw(4) === 0)
      state["after"] = { [this.#pick([0, 10, 2000])]: this.#transitions(node, true) };
    if (this.#movement === "everything" && this.#draw(4) === 0) {
      state["always"] = this.#transitions(node, false);
    }
    if (this.#movement === "activities" && this.#draw(2) === 0)
      state["invoke"] = this.#invoke(node);
    if (!("children" in shape)) return state;
    if (node.parent !== null && this.#draw(2) === 0)
      state["onDone"] = this.#transitions(node, true);
    const states: [string, JsonValue][] = node.children.map((child) => [
      child.path.at(-1) as string,
      this.#state(child),
    ]);
    if (shape.history !== "none") {
      states.push([
        "h",
        {
          type: "history",
          history: shape.history,
          ...this.#maybe(2, () => ({ target: `${this.#pick(node.children).path.at(-1)}` })),
        },
      ]);
    }
    state["states"] = Object.fromEntries(states);
    if (shape.type === "compound")
      state["initial"] = this.#pick(node.children).path.at(-1) as string;
    return state;
  }

  #invoke(node: Node): JsonObject {
    return {
      id: ["at", ...node.path].join("."),
      src: "http",
      input: { url: "https://example.com/", headers: { n: { "@expr": "string(context.n)" } } },
      ...this.#maybe(1 + this.#draw(2), () => ({ onDone: this.#transitions(node, true) })),
      ...this.#maybe(2, () => ({ onError: this.#transitions(node, true) })),
    };
  }

  #maybe(choices: number, make: () => Record<string, JsonValue>): Record<string, JsonValue> {
    return this.#draw(choices) === 0 ? make() : {};
  }

  #transitions(node: Node, mayForbid: boolean): JsonValue {
    switch (this.#draw(6)) {
      case 0:
        return this.#target(node, this.#pick(this.#all));
      case 1:
        return [this.#transition(node, true), this.#transition(node, false)];
      case 2:
        return mayForbid ? {} : this.#transition(node, true);
      case 3:
        return this.#several() ?? this.#transition(node, false);
      default:
        return this.#transition(node, this.#draw(2) === 0);
    }
  }

  #transition(node: Node, guarded: boolean): JsonObject {
    return {
      ...this.#maybe(1 + this.#draw(2), () => ({
        target: this.#target(node, this.#pick(this.#all)),
      })),
      ...(guarded ? { guard: this.#guard(0) } : {}),
      ...this.#maybe(3, () => ({ actions: this.#actions() })),
      ...this.#maybe(4, () => ({ reenter: this.#draw(2) === 0 })),
      ...this.#maybe(8, () => ({ context: { n: 1 } })),
    };
  }

  #guard(depth: number): JsonValue {
    switch (this.#draw(depth > 1 ? 2 : 5)) {
      case 0:
        return { "@expr": "context.n > 1" };
      case 1:
        return {
          type: "xstate.stateIn",
          params: { stateId: this.#reference(this.#pick(this.#all)) },
        };
      case 2:
        return { type: "xstate.not", params: { guard: this.#guard(depth + 1) } };
      case 3:
        return { type: "xstate.and", params: { guards: [this.#guard(depth + 1)] } };
      default:
        return {
          type: "xstate.or",
          params: { guards: [this.#guard(depth + 1), { "@expr": "true" }] },
        };
    }
  }

  #actions(): JsonValue {
    switch (this.#draw(this.#movement === "everything" ? 5 : 3)) {
      case 0:
        return [];
      case 1:
        return { type: "@xstate.assign", context: { n: { "@expr": "1 + 1" } } };
      case 2:
        return [
          { type: "@xstate.log", args: ["here"] },
          { type: "@xstate.raise", event: { type: "NEXT" }, delay: 1000, id: "later" },
        ];
      default:
        return [{ type: "@xstate.raise", event: { type: this.#pick(EVENTS) } }];
    }
  }

  /** Two states in two regions of one parallel state. */
  #several(): JsonObject | null {
    const parallels = this.#all.filter(
      (node) => node.shape.type === "parallel" && node.children.length > 1,
    );
    if (parallels.length === 0) return null;
    const [one, two] = this.#pick(parallels).children as [Node, Node];
    const within = (region: Node): string =>
      this.#reference(this.#pick(this.#all.filter((node) => startsWith(node.path, region.path))));
    return { target: [within(one), within(two)] };
  }

  #target(from: Node, to: Node): string {
    const below = startsWith(to.path, from.path) && to !== from;
    const beside =
      from.parent !== null && startsWith(to.path, from.parent.path) && to !== from.parent;
    const ways = [this.#reference(to)];
    if (below) ways.push(`.${to.path.slice(from.path.length).join(".")}`);
    if (beside && from.parent) ways.push(to.path.slice(from.parent.path.length).join("."));
    return this.#pick(ways);
  }

  #reference(node: Node): string {
    return ["#m", ...node.path].join(".");
  }
}

function startsWith(path: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((key, index) => path[index] === key);
}
