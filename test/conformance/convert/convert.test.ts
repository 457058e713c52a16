import { describe, expect, it } from "vitest";
import { convert } from "./convert.ts";
import { NotConverted } from "./not-converted.ts";

function converted(body: string, attributes = "") {
  const scxml = `<scxml xmlns="http://www.w3.org/2005/07/scxml" ${attributes}>${body}</scxml>`;
  const script = {
    initialConfiguration: ["a"],
    events: [
      { event: { name: "go" }, nextConfiguration: ["b"] },
      { event: { name: "go.on" }, after: 10, nextConfiguration: ["b"] },
    ],
  };
  return convert({ name: "some/chart+1", scxml, script });
}

function definition(body: string, attributes = "") {
  return converted(body, attributes).definition;
}

describe("converting a chart", () => {
  it("gives a machine of that name, which starts in the first state, and the steps of the script", () => {
    const { definition, steps, ids } = converted(`<state id="a.1"/><final id="b"/>`);
    expect(definition).toEqual({
      id: "some-chart-1",
      context: {},
      initial: "a_1",
      states: { a_1: { id: "a_1" }, b: { id: "b", type: "final" } },
    });
    expect(ids.get("a_1")).toBe("a.1");
    expect(steps).toEqual([
      { happens: { start: true }, expected: ["a"] },
      { happens: { event: "go" }, expected: ["b"] },
      { happens: { advanceMs: 600_000 }, expected: null },
      { happens: { event: "go.on" }, expected: ["b"] },
    ]);
  });

  it("lets a chart without a script wait for an event", () => {
    const scxml = `<scxml><state id="a"/></scxml>`;
    const script = { initialConfiguration: ["a"], events: [] };
    const { definition, steps } = convert({ name: "c", scxml, script });
    expect(definition).toMatchObject({
      initial: "before_all",
      states: { before_all: { on: { begin: { target: "#a" } } } },
    });
    expect(steps.map(({ expected }) => expected)).toEqual([["before_all"], ["a"]]);
  });

  it("puts a state before where a chart starts deeper than in a child", () => {
    const inner = `<state id="b"/><state id="c"/>`;
    expect(definition(`<state id="a">${inner}</state>`, `initial="c"`)).toMatchObject({
      initial: "before_all",
      states: { before_all: { always: { target: "#c" } }, a: { initial: "b" } },
    });
  });

  it("leaves a state that is its own target, or inside of which the target is, unless that is internal", () => {
    const transitions = `<transition event="go" target="b"/><transition event="in" target="b" type="internal"/>
      <transition event="self" target="a" type="internal"/><transition event="out" target="c"/>`;
    const { states } = definition(
      `<state id="a">${transitions}<state id="b"/></state><state id="c"/>`,
    );
    expect(states).toMatchObject({
      a: {
        on: {
          // "go.on" is an event of the script, and below "go".
          "go.*": [{ target: "#b", reenter: true }],
          in: [{ target: "#b" }],
          self: [{ target: "#a", reenter: true }],
          out: [{ target: "#c" }],
        },
      },
    });
    expect(JSON.stringify(states).match(/reenter/g)).toHaveLength(2);
  });

  it("takes the end of a state for its own onDone, or tells who else waits for it", () => {
    const inside = `<state id="s"><transition event="done.state.s" cond="_event.data === 1" target="b"/>
      <final id="f"><donedata><content expr="1"/></donedata></final></state><state id="b"/>`;
    expect(definition(inside)["states"]).toMatchObject({
      s: { onDone: [{ target: "#b", guard: { "@expr": "(event.output == 1)" } }] },
    });
    const outside = `<state id="a"><transition event="done.state.s" target="b"/>
      <state id="s"><final id="f"/></state></state><state id="b"/>`;
    expect(definition(outside)["states"]).toMatchObject({
      a: {
        on: { "done.state.s": [{ target: "#b" }] },
        states: {
          s: {
            onDone: [{ actions: [{ type: "@xstate.raise", event: { type: "done.state.s" } }] }],
          },
        },
      },
    });
  });

  it("asks for states with a guard of its own, and for the rest with an expression", () => {
    const data = `<datamodel><data id="x" expr="0"/></datamodel>`;
    const { states } = definition(
      `${data}<state id="a"><transition cond="!In('a') &amp;&amp; x !== 1 + 2"/></state>`,
    );
    const inA = { type: "xstate.stateIn", params: { stateId: "#a" } };
    const guards = [
      { type: "xstate.not", params: { guard: inA } },
      { "@expr": "(context.x != (1 + 2))" },
    ];
    expect(states).toMatchObject({
      a: { always: [{ guard: { type: "xstate.and", params: { guards } } }] },
    });
  });

  it("decides the branches of an if before any of them acts", () => {
    const content = `<if cond="x === 0"><assign location="x" expr="1"/><else/><assign location="x" expr="2"/></if>`;
    const data = `<datamodel><data id="x" expr="0"/></datamodel>`;
    const { context, states } = definition(
      `${data}<state id="a"><onentry>${content}</onentry></state>`,
    );
    expect(context).toEqual({ x: 0, decided0: false, decided1: false });
    const sets = (name: string, cel: string) => ({
      type: "@xstate.assign",
      context: { [name]: { "@expr": cel } },
    });
    expect(states).toMatchObject({
      a: {
        entry: [
          sets("decided0", "(context.x == 0)"),
          sets("decided1", "!context.decided0"),
          sets("x", "context.decided0 ? dyn(1) : dyn(context.x)"),
          sets("x", "context.decided1 ? dyn(2) : dyn(context.x)"),
        ],
      },
    });
  });

  it("sends later what is not internal, a minute for a ms", () => {
    const content = `<raise event="r"/><send event="s" target="#_internal"/><send event="t"/>
      <send event="u" id="i" delay="1.5s"><param name="p" expr="'v'"/></send><cancel sendid="i"/>`;
    expect(
      definition(`<state id="a"><onentry>${content}</onentry></state>`)["states"],
    ).toMatchObject({
      a: {
        entry: [
          { type: "@xstate.raise", event: { type: "r" } },
          { type: "@xstate.raise", event: { type: "s" } },
          { type: "@xstate.raise", event: { type: "t" }, delay: 0 },
          {
            type: "@xstate.raise",
            event: { type: "u", data: { p: { "@expr": '"v"' } } },
            delay: 90_000_000,
            id: "i",
          },
          { type: "@xstate.cancel", id: "i" },
        ],
      },
    });
  });

  it.each([
    ["invoke", `<state id="a"><invoke/></state>`],
    ["foreach", `<state id="a"><onentry><foreach array="x" item="y"/></onentry></state>`],
    [
      "scripts that do more than assign",
      `<state id="a"><onentry><script>f()</script></onentry></state>`,
    ],
    ["system variables", `<state id="a"><transition cond="_sessionid === 1"/></state>`],
    [
      "events for other sessions",
      `<state id="a"><onentry><send event="e" target="#_x"/></onentry></state>`,
    ],
    ["JavaScript that does not parse", `<state id="a"><transition cond="return"/></state>`],
    [
      "conditions that are neither true nor false",
      `<datamodel><data id="x" expr="0"/></datamodel><state id="a"><transition cond="x"/></state>`,
    ],
  ])("refuses %s by that name", (reason, body) => {
    expect(() => converted(body)).toThrow(new NotConverted(reason));
  });
});
