import { Cron } from "croner";
import fc from "fast-check";
import { expect, it } from "vitest";
import { slotsOf } from "../../src/cron/next-slot.ts";
import type { NextSlot } from "../../src/cron/next-slot.ts";

/** The library as the measure: which patterns there are, and when each comes. */
function byLibrary(cron: string, timezone: string): NextSlot {
  const pattern = new Cron(cron, {
    timezone,
    paused: true,
    mode: "5-or-6-parts",
    fixedTimeRule: "no-wildcard",
  });
  return (after) => pattern.nextRun(new Date(after))?.getTime() ?? null;
}

function made(of: typeof slotsOf, cron: string, timezone: string): NextSlot | null {
  try {
    return of(cron, timezone);
  } catch {
    return null;
  }
}

const ZONES = [
  "UTC",
  "Europe/Berlin",
  "Europe/Dublin",
  "America/New_York",
  "America/Sao_Paulo",
  "America/St_Johns",
  "America/Santiago",
  "America/Havana",
  "Asia/Beirut",
  "Asia/Kathmandu",
  "Asia/Tehran",
  "Australia/Lord_Howe",
  "Africa/Casablanca",
  "Africa/Cairo",
  "Pacific/Chatham",
  "Pacific/Kiritimati",
  "Pacific/Pago_Pago",
];

const YEAR = 366 * 86_400_000;
/** Days around which clocks are moved somewhere, and any others. */
const from = fc.oneof(
  fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2090, 0) }),
  fc
    .tuple(
      fc.integer({ min: 2026, max: 2060 }),
      fc.constantFrom(2, 3, 8, 9, 10),
      fc.nat(86_400_000 * 31),
    )
    .map(([year, month, ms]) => Date.UTC(year, month, 1) + ms),
);

function field(first: number, last: number, more: readonly string[]): fc.Arbitrary<string> {
  const value = fc.integer({ min: first, max: last });
  const range = fc.tuple(value, value).map((ends) => ends.sort((a, b) => a - b).join("-"));
  const step = fc.integer({ min: 1, max: last });
  const item = fc.oneof(
    { weight: 4, arbitrary: value.map(String) },
    { weight: 2, arbitrary: range },
    { weight: 1, arbitrary: fc.tuple(range, step).map((both) => both.join("/")) },
    { weight: 1, arbitrary: step.map((by) => `*/${by}`) },
    { weight: more.length > 0 ? 3 : 0, arbitrary: fc.constantFrom("*", ...more) },
  );
  const list = fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join());
  return fc.oneof(fc.constant("*"), item, list);
}

const days = ["L", "LW", "1W", "15W", "30w", "31W", "28-31", "?", "l"];
const weekdays = [
  "SUN",
  "MON-FRI",
  "+MON",
  "+0",
  "fri#1",
  "SUN#L",
  "5L",
  "1-3#2",
  "7",
  "5-7",
  "FRI-SUN",
  "1#5",
  "+6L",
];

const pattern = fc
  .tuple(
    fc.oneof(
      fc.constant(""),
      field(0, 59, []).map((text) => `${text} `),
    ),
    field(0, 59, []),
    field(0, 23, []),
    field(1, 31, days),
    field(1, 12, ["JAN", "feb", "MAR-MAY", "NOV,DEC"]),
    field(0, 7, weekdays),
  )
  .map(([seconds, ...fields]) => seconds + fields.join(" "));

it("has the slots that croner finds, one after the other, also where clocks are moved", () => {
  fc.assert(
    fc.property(pattern, fc.constantFrom(...ZONES), from, (cron, zone, start) => {
      const [ours, theirs] = [made(slotsOf, cron, zone), made(byLibrary, cron, zone)];
      expect(ours === null, cron).toBe(theirs === null);
      if (ours === null || theirs === null) return;
      for (let at: number | null = start, count = 0; at !== null && count < 6; count += 1) {
        const next: number | null = theirs(at);
        expect(ours(at), `${cron} in ${zone} after ${new Date(at).toISOString()}`).toBe(next);
        at = next === null || next > start + 40 * YEAR ? null : next;
      }
    }),
    { numRuns: 3_000 },
  );
});

it("takes what croner takes, and nothing else", () => {
  const letters = fc.array(fc.constantFrom(..."0123456789**//,,--##LWlw+?"), { maxLength: 6 });
  const names = fc.constantFrom(
    "MON",
    "sun",
    "-SUN",
    "JAN",
    "dec",
    "-",
    ",",
    "/",
    "#",
    "L",
    "1",
    "2",
    "+",
  );
  const word = fc.oneof(
    fc.constantFrom("*", "0", "1"),
    letters.map((all) => all.join("")),
    fc.array(names, { maxLength: 5 }).map((all) => all.join("")),
  );
  const usual = fc.constantFrom("*", "1", "1-3", "*/2");
  const text = fc.oneof(
    // One strange field among usual ones, so that it decides.
    fc
      .tuple(fc.array(usual, { minLength: 5, maxLength: 6 }), word, fc.nat(5))
      .map(([fields, strange, at]) => fields.map((one, n) => (n === at ? strange : one)).join(" ")),
    fc.array(word, { maxLength: 7 }).map((words) => words.join(" ")),
    fc.constantFrom(
      "@daily",
      " @Hourly ",
      "@weekly",
      "@monthly",
      "@yearly",
      "@annually",
      "@midnight",
      "@reboot",
      "@x",
    ),
    fc.string(),
  );
  fc.assert(
    fc.property(text, (cron) => {
      fc.pre(!cron.includes(":"));
      const [ours, theirs] = [made(slotsOf, cron, "UTC"), made(byLibrary, cron, "UTC")];
      expect(ours === null, cron).toBe(theirs === null);
    }),
    { numRuns: 30_000 },
  );
});
