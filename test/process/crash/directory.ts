import { isDeepStrictEqual } from "node:util";
import { until } from "../../support/until.ts";
import type { Answered, Server } from "./server.ts";

/** What an entry of the directory and its actor have in common. */
const SHARED = ["uid", "definitionId", "stateValue", "status", "seq", "refs"];

/** Where the directory says something else than the actors that it lists, or does not list one of these. */
export async function wrongWithDirectory(
  server: Server,
  ids: readonly string[],
): Promise<string[]> {
  return await until(
    () => differences(server, ids),
    (wrong) => wrong.length === 0,
    // What a kill kept from it comes within about a minute.
    90_000,
  );
}

async function differences(server: Server, ids: readonly string[]): Promise<string[]> {
  const items: Answered["body"][] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Answered = await server.call("GET", `/v1/actors?limit=200${query}`, "-");
    items.push(...page.body.items);
    cursor = page.body.nextCursor;
  } while (cursor !== null);

  const wrong = ids
    .filter((id) => items.filter((item) => item.id === id).length !== 1)
    .map((id) => `${id} is not listed once`);
  for (const item of items) {
    const path = `/v1/actors/${encodeURIComponent(item.id)}`;
    const { status, body } = await server.call("GET", path, "-");
    const [listed, actual] = [shared(item), shared(body)];
    if (status === 200 && isDeepStrictEqual(listed, actual)) continue;
    wrong.push(
      `${item.id} is listed as ${JSON.stringify(listed)}: ${status} ${JSON.stringify(actual)}`,
    );
  }
  return wrong;
}

function shared(about: Answered["body"]): Record<string, unknown> {
  return Object.fromEntries(SHARED.map((name) => [name, about[name]]));
}
