import fc from "fast-check";
import { expect, it } from "vitest";
import { deployed, spawned } from "../support/actors.ts";
import { call } from "../support/api.ts";
import { apiDocument } from "../support/api-document.ts";
import { queueName, taskMachine, untilTasks } from "../support/tasks.ts";

const ACTORS = 8;
const RUNS = 400;

interface Schema {
  type?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  format?: string;
}

interface Operation {
  tags: string[];
  parameters?: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: { "application/json": { schema: Schema } } };
}

/** What no schema of a task allows, or what is hard to keep. */
const HOSTILE: readonly unknown[] = [
  null,
  -1,
  1e300,
  0.5,
  "",
  "\u0000",
  "\r\nX: y",
  "\ud800",
  "__proto__",
  "x".repeat(501),
  "\u{1f600}".repeat(250),
  [],
  {},
  JSON.parse('{"__proto__": {"a": 1}}'),
  { xstate$$type: 1 },
  { "@expr": "1 / 0" },
  JSON.parse("[".repeat(70) + "]".repeat(70)),
  "y".repeat(260_000),
  "9999-12-31T23:59:59.000Z",
  "0000-01-01T00:00:00+23:59",
];

/** Mostly what the schema says, at its edges too. */
function valueOf(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 6, arbitrary: fitting(schema) },
    { weight: 1, arbitrary: fc.constantFrom(...HOSTILE) },
  );
}

function fitting(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(fitting));
  switch (schema.type) {
    case "object":
      return objectOf(schema);
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.oneof(
        fc.constantFrom(schema.minimum, schema.maximum),
        fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 0, 100_000) }),
      );
    case "string":
      return schema.format === "date-time"
        ? fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
        : fc.string({
            minLength: schema.minLength ?? 0,
            maxLength: Math.min(schema.maxLength ?? 20, 20),
            unit: "binary",
          });
    case "null":
      return fc.constant(null);
    default:
      return fc.jsonValue();
  }
}

function objectOf({ properties = {}, required = [] }: Schema): fc.Arbitrary<unknown> {
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, valueOf(schema)]),
  );
  // No call of this test waits.
  if ("waitMs" in members) members["waitMs"] = fc.constant(0);
  return fc.record(members, { requiredKeys: required });
}

const operations = Object.entries(apiDocument.paths)
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      ...(operation as unknown as Operation),
    })),
  )
  .filter(({ tags, path }) => tags.includes("Tasks") || path.endsWith("/actors/{id}/retry"));

const requests = fc
  .constantFrom(...operations)
  .chain(({ path, method, parameters, requestBody }) => {
    const schema = requestBody?.content["application/json"].schema;
    const queries = (parameters ?? []).filter((one) => one.in === "query");
    return fc.record({
      path: fc.constant(path),
      method: fc.constant(method),
      query: fc.record(Object.fromEntries(queries.map((one) => [one.name, valueOf(one.schema)])), {
        requiredKeys: [],
      }),
      body: schema === undefined ? fc.constant(undefined) : valueOf(schema),
      which: fc.nat(ACTORS - 1),
      token: fc.boolean(),
    });
  });

it("no call about tasks, whatever it says, is an error of ours or changes an actor that refuses it", async () => {
  expect(operations).toHaveLength(10);
  const queue = queueName();
  const work = await deployed(taskMachine({ queue, retry: { maxAttempts: 100, initialMs: 0 } }));
  const approval = { ...taskMachine({}) } as { states: { working: { invoke: object } } };
  Object.assign(approval.states.working.invoke, {
    src: "approval",
    input: { queue, assignee: "ann", title: "May it?" },
  });
  const asked = await deployed(approval);
  const ids: string[] = [];
  for (let n = 0; n < ACTORS; n += 1) ids.push(await spawned(n % 2 === 0 ? work : asked));
  const tasks = await untilTasks(queue, (items) => items.length === ACTORS);
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(requests, async ({ path, method, query, body, which, token }) => {
      const id = ids[which] as string;
      const task = tasks.find(({ actorId }) => actorId === id);
      const seq = async () => (await call("GET", `/v1/actors/${id}`)).body.seq;
      const before = await seq();
      const text = new URLSearchParams(
        Object.entries(query).map(([name, value]) => [name, String(value).toWellFormed()]),
      );
      const at = path.replace("{taskId}", task.id).replace("{queue}", queue).replace("{id}", id);
      const lease = token ? {} : { leaseToken: undefined };
      const said = typeof body === "object" && body !== null ? { ...body, ...lease } : body;
      const answer = await call(
        method,
        `${at}?${text.toString()}`,
        said === undefined ? {} : { body: JSON.stringify(said) },
      );
      statuses.add(answer.status);
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(500);
      if (answer.status >= 400) expect(await seq()).toBe(before);
    }),
    { numRuns: RUNS },
  );
  expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 409]));
});
