import { Connection } from "../connection.ts";
import type { Answer } from "../connection.ts";
import { DEFINITION, HEADERS } from "../perdure.ts";
import { progress } from "../progress.ts";
import { WrongAnswer } from "../target.ts";
import { TARGET } from "./loans.ts";
import type { Loan } from "./loans.ts";

const SPAWNED_AT_ONCE = 500;
const PAGE = 200;

export async function spawnAll(url: string, loans: readonly Loan[]): Promise<void> {
  for (let at = 0; at < loans.length; at += SPAWNED_AT_ONCE) {
    const some = loans.slice(at, at + SPAWNED_AT_ONCE);
    const actors = some.map(({ id }) => ({ definitionId: DEFINITION, id }));
    const { items } = await call<{ items: { status: number }[] }>(
      url,
      "POST",
      "/v1/actors/bulk",
      JSON.stringify({ actors }),
      { "Idempotency-Key": `bulk-${at}` },
    );
    const wrong = items.find(({ status }) => status !== 201);
    if (wrong) throw new WrongAnswer(`An actor was not spawned: ${JSON.stringify(wrong)}`);
    progress(`spawned ${at + some.length}`);
  }
}

/** One request for each actor, over a few connections; every answer is checked. */
export async function onAll(
  url: string,
  loans: readonly Loan[],
  clients: number,
  request: (loan: Loan) => string,
  expect: (loan: Loan, answer: Answer) => void,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    const connection = await Connection.open(url);
    for (let loan = loans[next++]; loan; loan = loans[next++]) {
      expect(loan, await connection.request(request(loan)));
      if (next % 1_000 === 0) progress(`${next} of ${loans.length}`);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: clients }, work));
}

/** Actors on the new version by the directory's lists; each has to be one that belongs there, once. */
export async function listed(url: string, loans: readonly Loan[]): Promise<number> {
  const wanted = new Set(
    loans.filter(({ fate }) => fate.definitionId === TARGET).map(({ id }) => id),
  );
  let found = 0;
  let cursor: string | null = "";
  while (cursor !== null) {
    const behind: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const page: { items: { id: string }[]; nextCursor: string | null } = await call(
      url,
      "GET",
      `/v1/actors?definitionId=${TARGET}&limit=${PAGE}${behind}`,
    );
    for (const { id } of page.items) {
      if (!wanted.delete(id)) throw new WrongAnswer(`${id} is listed twice, or does not belong`);
      found += 1;
    }
    cursor = page.nextCursor;
  }
  if (wanted.size > 0) throw new WrongAnswer(`${wanted.size} actors are not listed on ${TARGET}`);
  return found;
}

export async function call<T>(
  url: string,
  method: string,
  path: string,
  body?: string,
  headers: Record<string, string> = {},
): Promise<T> {
  const init = { method, headers: { ...HEADERS, ...headers } };
  const response = await fetch(`${url}${path}`, body === undefined ? init : { ...init, body });
  const text = await response.text();
  if (!response.ok) throw new WrongAnswer(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}
