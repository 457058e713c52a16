import { expect, it } from "vitest";
import { call, deployDoor } from "../support/api.ts";
import type { Body } from "../support/api.ts";
import { newTenant } from "../support/tenants.ts";

/** Actors that fit all the time, and those that begin and cease to. */
const STEADY = 60;
const RESTLESS = 20;
const LISTS = 4;

it("an actor that fits all the time is listed exactly once, whatever others do meanwhile", async () => {
  const { apiKey } = await newTenant();
  const definitionId = await deployDoor({ apiKey });
  const spawn = (id: string) => call("POST", "/v1/actors", { apiKey, body: { definitionId, id } });
  const send = (id: string, type: string) =>
    call("POST", `/v1/actors/${id}/events`, { apiKey, body: { type } });
  const steady: string[] = [];
  for (let n = 0; n < STEADY; n++) {
    steady.push(`s${n}`);
    await spawn(`s${n}`);
    if (n < RESTLESS) await spawn(`r${n}`);
  }

  const lists = { over: false, changes: 0 };
  const changing = (async () => {
    for (let n = 0; !lists.over && n < 5_000; n++) {
      const restless = `r${n % RESTLESS}`;
      // Restless ones change their class, are deleted and come again; steady ones change what is not asked for.
      await send(restless, n % 2 === 0 ? "OPEN" : "CLOSE");
      await call("PATCH", `/v1/actors/s${n % STEADY}`, {
        apiKey,
        body: { refs: { n: String(n) } },
      });
      if (n % 3 === 0) {
        await call("DELETE", `/v1/actors/${restless}`, { apiKey });
        await spawn(restless);
      }
      await spawn(`new${n}`);
      lists.changes += 1;
    }
  })();

  let pages = 0;
  for (let list = 0; list < LISTS || lists.changes <= 5; list++) {
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const query: string = `?state=closed&limit=7${cursor && `&cursor=${cursor}`}`;
      const { body }: Body = await call("GET", `/v1/actors${query}`, { apiKey });
      seen.push(...body.items.map(({ id }: Body) => id));
      cursor = body.nextCursor;
      pages += 1;
    }
    const mine = seen.filter((id) => id.startsWith("s"));
    expect(mine).toEqual(steady.toReversed());
  }
  lists.over = true;
  await changing;
  expect(pages).toBeGreaterThan(LISTS * (STEADY / 7));
});
