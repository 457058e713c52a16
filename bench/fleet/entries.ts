import type { Entry } from "../../src/directory/rpc.ts";

const DAY_MS = 86_400_000;

/** The loan's states, as a fleet of loans stands in them; the last three are final. */
const STATES = [
  { share: 0.2, stateValue: "collecting_info", tags: [] },
  { share: 0.15, stateValue: "awaiting_fee", tags: ["waiting-for-applicant"] },
  { share: 0.2, stateValue: "awaiting_documents", tags: ["waiting-for-applicant"] },
  { share: 0.12, stateValue: "in_review", tags: ["waiting-for-bank"] },
  { share: 0.03, stateValue: "second_review", tags: ["waiting-for-bank"] },
  { share: 0.15, stateValue: "approved", tags: [] },
  { share: 0.1, stateValue: "rejected", tags: [] },
  { share: 0.05, stateValue: "expired", tags: [] },
] as const;
const FINAL = ["approved", "rejected", "expired"];

const DEFINITIONS = [
  { share: 0.6, definitionId: "loan-v1" },
  { share: 0.3, definitionId: "loan-v2" },
  { share: 0.1, definitionId: "loan-v3" },
] as const;

/** `count` entries of a made-up fleet, the same in every run but for `now`; births are a millisecond or more apart. */
export function entries(count: number, now: number): Entry[] {
  const random = randomNumbers(1);
  const spanMs = Math.max(30 * DAY_MS, count);
  return Array.from({ length: count }, (_, index) => {
    const { stateValue, tags } = pick(STATES, random());
    const { definitionId } = pick(DEFINITIONS, random());
    const bornAt = Math.floor(now - spanMs + (index * spanMs) / count);
    const updatedAt = Math.floor(bornAt + random() * (now - bornAt));
    const isFinal = FINAL.includes(stateValue);
    const status = isFinal ? "done" : random() < 0.03 ? "paused" : "active";
    const attention: Entry["attention"] = random() < 0.01 ? ["parked"] : [];
    return {
      id: `seeded-${index}`,
      uid: index.toString(16).padStart(32, "0"),
      bornAt,
      seq: 5,
      definitionId,
      family: "loan",
      status,
      stateValue,
      tags: [...tags],
      attention,
      dueAt: isFinal ? null : now + DAY_MS + Math.floor(random() * 30 * DAY_MS),
      refs: {},
      updatedAt,
      events: 4,
      replays: 0,
      steps: "AAECAwQFBgcICQoLDA0ODw==",
      changedAt: updatedAt,
    };
  });
}

function pick<T extends { share: number }>(choices: readonly T[], at: number): T {
  let rest = at;
  for (const choice of choices) {
    if (rest < choice.share) return choice;
    rest -= choice.share;
  }
  return choices[0] as T;
}

/** Park and Miller's generator, 0 to 1. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
