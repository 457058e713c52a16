import { Connection } from "../connection.ts";
import type { Lab } from "../lab.ts";
import { checkOutcomes } from "../slot.ts";
import { WrongAnswer } from "../target.ts";
import type { Running, Target } from "../target.ts";
import { EVENTS } from "../workload.ts";
import type { Peer } from "./peer.ts";

const ID = "trial";

export interface Tried {
  takePart: Peer[];
  /** One for each of the others: why it is left out. */
  sentences: string[];
}

/** Starts each peer once and plays one loan with it. Who cannot start is left out; who answers wrongly ends the run. */
export async function tryPeers(lab: Lab, peers: readonly Peer[]): Promise<Tried> {
  const tried: Tried = { takePart: [], sentences: [] };
  for (const peer of peers) {
    try {
      peer.prepare();
      await lab.serve(peer, (running) => playOne(peer, running, peer.keyed));
      tried.takePart.push(peer);
    } catch (error) {
      if (error instanceof WrongAnswer || lab.isStopped) throw error;
      tried.sentences.push(`${peer.name} is left out: ${(error as Error).message}`);
    }
  }
  return tried;
}

/** Throws a `WrongAnswer` unless each event acts once: with `keyed`, each is sent twice. */
async function playOne(target: Target, running: Running, keyed: boolean): Promise<void> {
  const connection = await Connection.open(running.url);
  try {
    target.checkCreated(ID, await connection.request(target.create(ID)));
    for (let index = 0; index < EVENTS.length; index++) {
      for (let times = keyed ? 2 : 1; times > 0; times--) {
        target.checkEvent(ID, index, await connection.request(target.event(ID, index)));
      }
    }
  } finally {
    connection.close();
  }
  await checkOutcomes(target, running, [ID]);
}
