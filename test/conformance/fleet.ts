import { call } from "../process/client.ts";
import type { Answer } from "../process/client.ts";
import { configurationOf } from "./configuration.ts";
import type { Run } from "./configuration.ts";
import type { Converted } from "./convert/convert.ts";

/** What the charts run on. */
export interface Host {
  /** Of the server that is up now. */
  url(): string;
  /** Called before each round but the one in which all start. */
  before(): Promise<void>;
}

/** Requests under way at once. */
const AT_ONCE = 16;

/** What did not answer with success, as a sentence. */
class Refused extends Error {}

/** Deploys every chart; gives back why some were refused, by name. */
export async function deployAll(host: Host, charts: Converted[]): Promise<Map<string, string>> {
  const refused = new Map<string, string>();
  await forEach(charts, async ({ name, definition }) => {
    const body = { id: definitionId(definition), definition };
    const answer = await call(host.url(), "PUT", "/v1/definitions", body);
    if (answer.status !== 201) refused.set(name, refusal(answer));
  });
  return refused;
}

/**
 * Runs all charts side by side, an actor each: what is a chart's third step is taken in
 * everybody's third round. Actors are called by `prefix` and the name.
 */
export async function runOnPerdure(
  host: Host,
  charts: Converted[],
  prefix: string,
): Promise<Map<string, Run>> {
  const runs = new Map<string, Run>();
  const actors = charts.map((chart) => {
    const run: Run = { configurations: [], stopped: null };
    runs.set(chart.name, run);
    return { chart, run, id: `${prefix}.${chart.name.replaceAll(/[^\w.-]/g, "-")}` };
  });
  const rounds = Math.max(0, ...charts.map(({ steps }) => steps.length));
  for (let round = 0; round < rounds; round += 1) {
    const going = actors.filter(
      ({ chart, run }) => round < chart.steps.length && run.stopped === null,
    );
    if (going.length === 0) break;
    if (round > 0) await host.before();
    await forEach(going, ({ chart, run, id }) => take(host.url(), chart, run, id, round));
  }
  return runs;
}

async function take(
  url: string,
  { definition, steps, ids }: Converted,
  run: Run,
  id: string,
  round: number,
): Promise<void> {
  const { happens } = steps[round]!;
  const path = `/v1/actors/${id}`;
  try {
    let answer: Answer;
    if ("start" in happens) {
      answer = await call(url, "POST", "/v1/actors", {
        definitionId: definitionId(definition),
        id,
      });
    } else if ("event" in happens) {
      answer = await call(url, "POST", `${path}/events`, { type: happens.event });
    } else {
      answer = await call(url, "POST", `${path}/clock/advance`, { ms: happens.advanceMs });
    }
    const state = stateValue(hasEnded(answer) ? await call(url, "GET", path) : answer);
    run.configurations.push(configurationOf(state, ids));
    if (round < steps.length - 1) return;
    const { body } = await call(url, "POST", `${path}/replay`, {});
    if (body["identical"] !== true) run.stopped = `its log replays to ${JSON.stringify(body)}`;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    run.stopped = error.message;
  }
}

/** Nothing happens to who has ended; a chart's script may go on all the same. */
function hasEnded({ status, body }: Answer): boolean {
  return status === 409 && body["code"] === "actor_not_active" && body["actorStatus"] === "done";
}

function stateValue(answer: Answer): unknown {
  if (answer.status >= 300) throw new Refused(refusal(answer));
  return answer.body["stateValue"];
}

function refusal({ status, body }: Answer): string {
  const { code, detail, errors } = body as Record<string, unknown> & { errors?: unknown[] };
  return `${status} ${String(code)}: ${JSON.stringify(errors?.[0] ?? detail)}`;
}

function definitionId(definition: Converted["definition"]): string {
  return `${String(definition["id"])}-v1`;
}

async function forEach<Item>(items: Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) await act(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
