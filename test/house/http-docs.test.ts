import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { routes } from "../../src/http/app.ts";
import type { Route } from "../../src/http/route.ts";

const text = readFileSync(join(import.meta.dirname, "../../docs/http.md"), "utf8");

const rows = [...text.matchAll(/^\| `([A-Z]+ \/\S+)` \|(.*?)\|(.*?)\|(.*)\|$/gm)].map(
  ([, route = "", takes = "", needs = "", answer = ""]) => ({ route, takes, needs, answer }),
);

const nameOf = ({ method, path }: Route) => `${method.toUpperCase()} ${path}`;
const declared = new Map(routes.map((route) => [nameOf(route), route]));

/** Names with `?` where they may be left out. */
function members(schema: z.ZodMiniType | undefined, optional: string): string[] {
  if (!(schema instanceof z.ZodMiniObject)) return [];
  return Object.entries(schema.shape as Record<string, z.ZodMiniType>).map(([name, member]) =>
    member.safeParse(undefined).success ? `${name}${optional}` : name,
  );
}

function told(takes: string): { query: string[]; body: string[] } {
  const query = /`\?([\w&.<>]+)`/.exec(takes)?.[1]?.split("&") ?? [];
  const body =
    /`\{(.*)\}`/
      .exec(takes)?.[1]
      ?.replaceAll(/: \[.*?\]/g, "")
      .split(", ") ?? [];
  return { query, body };
}

describe("the routes in docs/http.md", () => {
  it("are those that there are, each once", () => {
    expect(rows.map(({ route }) => route).toSorted()).toEqual([...declared.keys()].toSorted());
  });

  it("take, need and answer what they are said to", () => {
    for (const { route, takes, needs, answer } of rows) {
      const { body, query, scope, keyed, answers } = declared.get(route) as Route;
      expect(told(takes), route).toEqual({
        query: members(query as z.ZodMiniType | undefined, ""),
        body: members(body as z.ZodMiniType | undefined, "?"),
      });
      const needed = [scope ?? "", keyed ? "Idempotency-Key" : ""].filter((need) => need !== "");
      const listed = [...needs.matchAll(/`([^`]+)`/g)].map(([, need]) => need);
      expect(listed, route).toEqual(needed);
      const statuses = answer.match(/\b(?:101|20\d)\b/g) ?? [];
      expect(statuses.toSorted(), route).toEqual(Object.keys(answers).toSorted());
    }
  });
});

describe("the calls in docs/http.md", () => {
  const posts = [...text.matchAll(/^perdure (\w+) (\S+) (\S+) '(.*)'$/gm)];
  const gets = [...text.matchAll(/^see '([^'?]+)\??([^']*)'$/gm)];

  function find(method: string, path: string): Route {
    const found = routes.find(
      (route) =>
        route.method === method.toLowerCase() &&
        new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(`/v1/${path}`),
    );
    if (!found) throw new Error(`No route for ${method} ${path}`);
    return found;
  }

  it("stand on the definition that the README deploys", () => {
    const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");
    const used = new Set([...text.matchAll(/"definitionId": "([^"]+)"/g)].map(([, id]) => id));
    expect(used.size).toBe(1);
    for (const id of used) expect(readme).toContain(`PUT definitions - '{"id": "${id}"`);
  });

  it("are of routes that take them", () => {
    expect(posts.length).toBe(6);
    for (const [line, method = "", path = "", key, body = ""] of posts) {
      const route = find(method, path);
      expect(route.body?.safeParse(JSON.parse(body)), line).toMatchObject({ success: true });
      expect(key !== "-", line).toBe(route.keyed !== undefined);
    }
    expect(gets.length).toBe(3);
    for (const [line, path = "", query] of gets) {
      const given = Object.fromEntries(new URLSearchParams(query));
      const { query: schema } = find("GET", path);
      if (query === "") continue;
      expect(schema?.safeParse(given), line).toMatchObject({ success: true });
    }
  });
});
