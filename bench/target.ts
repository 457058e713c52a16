import { Refusal } from "../scripts/refusal.ts";
import type { Answer, WireRequest } from "./connection.ts";

/** A server under measurement; its data are thrown away afterwards. */
export interface Running {
  url: string;
  /** Of the process that serves; what it starts belongs to it. */
  pid: number;
  /** Of other processes that it needs, such as a database. */
  alongside?: readonly number[];
  end(): Promise<void>;
}

/** A kind of server, and what the workload looks like on its wire. */
export interface Target {
  name: string;
  start(directory: string): Promise<Running>;
  /** A request that no object takes part in. */
  trivial: WireRequest;
  create(id: string): WireRequest;
  /** Throws unless the answer is the one that was to come; so does `checkEvent`. */
  checkCreated(id: string, answer: Answer): void;
  event(id: string, index: number): WireRequest;
  checkEvent(id: string, index: number, answer: Answer): void;
  /** How an instance is read, once its events are played and nothing is timed; missing where nothing can be read. */
  outcome?: { read(id: string): WireRequest; check(id: string, answer: Answer): void };
}

/** All processes that a server is made of, without those below them. */
export function processesOf({ pid, alongside = [] }: Running): number[] {
  return [pid, ...alongside];
}

/** A run with an answer other than it should be has measured nothing. */
export class WrongAnswer extends Refusal {}

/** `members` are those of the answer that are looked at. */
export function expectAnswer(
  answer: Answer,
  status: number,
  members: Readonly<Record<string, unknown>>,
): void {
  if (answer.status === status) {
    const body = JSON.parse(answer.body) as Record<string, unknown>;
    if (Object.entries(members).every(([name, value]) => body[name] === value)) return;
  }
  throw new WrongAnswer(
    `Wrong answer: ${answer.status} ${answer.body}\nThis was to come: ${status} ${JSON.stringify(members)}`,
  );
}
