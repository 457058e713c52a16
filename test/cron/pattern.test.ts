import { Cron } from "croner";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { slotsOf, timingProblem } from "../../src/cron/pattern.ts";

const NOW = Date.parse("2026-12-01T12:00:00.000Z");
const DAY = 86_400_000;

/** The first slots after an instant, in UTC and without seconds and ms. */
function slots(cron: string, timezone: string, from: string, count: number): string[] {
  const next = slotsOf(cron, timezone);
  const found: string[] = [];
  for (let at = Date.parse(from); found.length < count;) {
    const slot = next(at);
    if (slot === null) break;
    found.push(new Date(slot).toISOString().slice(0, 16));
    at = slot;
  }
  return found;
}

describe("Europe/Berlin", () => {
  it("runs 02:30 once on the day that has none, right after the gap", () => {
    expect(slots("30 2 * * *", "Europe/Berlin", "2027-03-27T00:00:00Z", 3)).toEqual([
      "2027-03-27T01:30",
      "2027-03-28T01:00",
      "2027-03-29T00:30",
    ]);
  });

  it("runs 02:30 once on the day that has two, the first time", () => {
    expect(slots("30 2 * * *", "Europe/Berlin", "2027-10-30T00:00:00Z", 3)).toEqual([
      "2027-10-30T00:30",
      "2027-10-31T00:30",
      "2027-11-01T01:30",
    ]);
  });

  it("runs several written times as often as they are written", () => {
    const from = "2027-10-30T22:30:00Z";
    expect(slots("30 2,14 * * *", "Europe/Berlin", from, 3)).toEqual([
      "2027-10-31T00:30",
      "2027-10-31T13:30",
      "2027-11-01T01:30",
    ]);
  });

  it.each(["2027-03-27T12:00:00Z", "2027-10-30T12:00:00Z"])(
    "runs each real hour from %s on, and each quarter of one",
    (from) => {
      for (const [cron, step] of [
        ["0 * * * *", 3_600_000],
        ["*/15 * * * *", 900_000],
      ] as const) {
        const next = slotsOf(cron, "Europe/Berlin");
        for (let at = Date.parse(from); at < Date.parse(from) + 2 * DAY; at += step) {
          expect(next(at)).toBe(at + step);
        }
      }
    },
  );
});

it("half an hour of daylight saving, in Australia/Lord_Howe, moves no daily run twice", () => {
  // Clocks go from 02:00 to 02:30 on 2027-10-03 and from 02:00 to 01:30 on 2027-04-04.
  expect(slots("15 2 * * *", "Australia/Lord_Howe", "2027-10-01T12:00:00Z", 3)).toEqual([
    "2027-10-01T15:45",
    "2027-10-02T15:30",
    "2027-10-03T15:15",
  ]);
  expect(slots("45 1 * * *", "Australia/Lord_Howe", "2027-04-02T12:00:00Z", 3)).toEqual([
    "2027-04-02T14:45",
    "2027-04-03T14:45",
    "2027-04-04T15:15",
  ]);
});

const ZONES = [
  "UTC",
  "Europe/Berlin",
  "Europe/Dublin",
  "America/New_York",
  "America/Sao_Paulo",
  "America/St_Johns",
  "Asia/Kathmandu",
  "Asia/Tehran",
  "Australia/Lord_Howe",
  "Africa/Casablanca",
  "Pacific/Chatham",
];

describe("in every time zone", () => {
  it("a daily schedule has exactly one run in each local day, over years", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.nat(23),
        fc.nat(59),
        fc.integer({ min: 2026, max: 2060 }),
        (timezone, hour, minute, year) => {
          const localDay = new Intl.DateTimeFormat("en-CA", { timeZone: timezone });
          const next = slotsOf(`${minute} ${hour} * * *`, timezone);
          const from = Date.UTC(year, 0, 1, 12);
          const days: string[] = [];
          for (let at = next(from); at !== null && at < from + 2 * 366 * DAY; at = next(at)) {
            days.push(localDay.format(at));
          }
          const expected = days.map((_, index) =>
            new Date(Date.parse(`${days[0]}T00:00:00Z`) + index * DAY).toISOString().slice(0, 10),
          );
          expect(days).toEqual(expected);
          expect(days.length).toBeGreaterThan(729);
        },
      ),
      { numRuns: 30 },
    );
  });

  it("an hourly one has a run in each real hour", () => {
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), fc.integer({ min: 2026, max: 2060 }), (zone, year) => {
        const next = slotsOf("*/30 * * * *", zone);
        // Whole half hours in all these zones but Kathmandu's and Chatham's quarters.
        const offset = /Kathmandu|Chatham/.test(zone) ? 900_000 : 0;
        for (const month of [2, 3, 8, 9, 10]) {
          const from = Date.UTC(year, month, 20) + offset;
          for (let at = from; at < from + 20 * DAY; at += 1_800_000) {
            expect(next(at)).toBe(at + 1_800_000);
          }
        }
      }),
      { numRuns: 4 },
    );
  });

  it("slots are whole seconds, go up, and are the same from any instant before them", () => {
    const field = fc.constantFrom("*", "*/7", "0", "5,55", "10-20", "3-50/9");
    fc.assert(
      fc.property(
        field,
        fc.constantFrom("*", "*/5", "2", "1,2,3", "0-23/3"),
        fc.constantFrom("*", "1", "L", "15W", "28-31"),
        fc.constantFrom("*", "3", "10", "3,10"),
        fc.constantFrom("*", "SUN", "1-5", "SUN#L", "+0"),
        fc.constantFrom(...ZONES),
        fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2040, 0) }),
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        (minute, hour, day, month, weekday, zone, from, part) => {
          const next = slotsOf([minute, hour, day, month, weekday].join(" "), zone);
          const first = next(from);
          if (first === null) return;
          expect(first).toBeGreaterThan(from);
          expect(first % 1_000).toBe(0);
          expect(next(from + Math.floor((first - from) * part))).toBe(first);
          expect(next(first - 1)).toBe(first);
          expect(next(first) ?? Infinity).toBeGreaterThan(first);
        },
      ),
      { numRuns: 400 },
    );
  });
});

describe("what is refused", () => {
  it.each([
    ["* * *", "/cron", "invalid_cron"],
    ["", "/cron", "invalid_cron"],
    ["61 * * * *", "/cron", "invalid_cron"],
    ["0 0 * * MOON", "/cron", "invalid_cron"],
    ["0 0 0 1 1 * 2030", "/cron", "invalid_cron"],
    ["0 0 0 1 1 * 9999", "/cron", "invalid_cron"],
    ["@reboot", "/cron", "invalid_cron"],
    ["2030-01-01T00:00:00", "/cron", "invalid_cron"],
    ["0 0 30 2 *", "/cron", "never_due"],
    ["0 0 31 2,4,6,9,11 *", "/cron", "never_due"],
    ["* * * * * *", "/cron", "too_frequent"],
    ["*/4 * * * * *", "/cron", "too_frequent"],
    ["0,56 0 * * * *", "/cron", "too_frequent"],
  ])("%s", (cron, pointer, code) => {
    const problem = timingProblem(cron, "UTC", NOW);
    expect(problem).toMatchObject({ pointer, code });
    expect(problem?.message.length).toBeGreaterThan(20);
  });

  it.each([
    ["* * *", "it has 3 fields"],
    ["@dayly", "it has 1 field"],
    ["0 0 0 1 1 * 2030", "it has 7 fields"],
    ["61 * * * *", "its field minute has no 61"],
    ["0 24 * * *", "its field hour has no 24"],
    ["60 0 0 * * *", "its field second has no 60"],
    ["0 0 32 * *", "its field day of month has no 32"],
    ["0 0 0 * *", "its field day of month has no 0"],
    ["0 0 40W * *", "its field day of month has no 40"],
    ["0 0 1 13 *", "its field month has no 13"],
    ["0 0 * * 8", "its field day of week has no 8"],
    ["a b c d e", "its field minute cannot be read: a"],
    ["0 9 * * MON-FRY", "its field day of week cannot be read: 1-FRY"],
    ["5/10 * * * *", "Use wildcard (*/step) or range (min-max/step) instead"],
    ["@reboot", "@reboot is no time"],
  ])("%s, with a reason in the words of who wrote it", (cron, reason) => {
    const message = timingProblem(cron, "UTC", NOW)?.message ?? "";
    expect(message).toContain(`${reason}. Write five fields`);
  });

  it.each(["", "Nowhere/City", "+02:00", "../etc/passwd", "Europe/Berlin\n", "null"])(
    "the time zone '%s'",
    (timezone) => {
      expect(timingProblem("0 0 * * *", timezone, NOW)).toMatchObject({
        pointer: "/timezone",
        code: "unknown_timezone",
      });
    },
  );

  it.each([
    "*/5 * * * * *",
    "0,55 0 * * * *",
    "@daily",
    "@weekly",
    "0 0 29 2 *",
    "0 0 29 2 +MON",
    "0 0 L * *",
    "0 9 * * MON#1",
  ])("but not %s", (cron) => {
    expect(timingProblem(cron, "America/New_York", NOW)).toBeNull();
  });
});

/** How often the clock of a time zone is asked while something runs: what a search is made of. */
function looksAtClock(run: () => void): number {
  const looks = vi.spyOn(Intl.DateTimeFormat.prototype, "formatToParts");
  try {
    run();
    return looks.mock.calls.length;
  } finally {
    looks.mockRestore();
  }
}

describe("an hour that the clock leaves out on all of a pattern's days", () => {
  it.each([
    ["*/5 * 2 * 3 +SUN#L", "Europe/Berlin"],
    ["*/5 * 2 8-14 3 +SUN", "America/New_York"],
    ["*/5 * 1-2 * 3 +SUN#L", "Antarctica/Troll"],
    ["* 2 * 3 +SUN#L", "Europe/Berlin"],
  ])("is never due, which is found out soon: %s in %s", (cron, timezone) => {
    const looks = looksAtClock(() => {
      expect(timingProblem(cron, timezone, NOW)).toMatchObject({ code: "never_due" });
    });
    expect(looks).toBeLessThan(25_000);
  });

  it("but a time that is written out is kept", () => {
    expect(slots("30 2 * 3 +SUN#L", "Europe/Berlin", "2027-01-01T00:00:00Z", 2)).toEqual([
      "2027-03-28T01:00",
      "2028-03-26T01:00",
    ]);
  });
});

it("the search by minutes finds what croner finds second by second", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("*/5", "0-55/5", "7,*/30", "?"),
      fc.constantFrom("*", "*/7", "0", "30,31", "?"),
      fc.constantFrom("*", "2", "1-3", "*/5"),
      fc.constantFrom("*", "+SUN", "MON-FRI"),
      fc.constantFrom(...ZONES),
      fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2040, 0) }),
      (second, minute, hour, weekday, timezone, from) => {
        const cron = [second, minute, hour, "*", "*", weekday].join(" ");
        const alone = new Cron(cron, { timezone, paused: true, fixedTimeRule: "no-wildcard" });
        const next = slotsOf(cron, timezone);
        for (let at = from, times = 0; times < 5; times += 1) {
          const slot = next(at) as number;
          expect(slot).toBe(alone.nextRun(new Date(at))?.getTime());
          at = slot;
        }
      },
    ),
    { numRuns: 200 },
  );
});

it("the rarest day of all, a 29 February of one weekday, is found each time", () => {
  for (const day of ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]) {
    const found = slots(`0 0 29 2 +${day}`, "UTC", "2026-12-01T00:00:00Z", 8);
    expect(found).toHaveLength(8);
  }
});

it("no pattern takes long, whatever it says", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ maxLength: LIMITS.cronChars }),
        fc
          .array(fc.constantFrom(..."0123456789*/,-#LW+? "), { maxLength: LIMITS.cronChars })
          .map((characters) => characters.join("")),
        fc
          .tuple(
            fc.constantFrom("", "*/5", "0-55/5", "0,30"),
            fc.constantFrom("0", "*", "59"),
            fc.constantFrom("0", "*", "2", "0-2", "23"),
            fc.constantFrom("30", "31", "29", "L", "31W", "*", "25-31", "1-7", "8-14"),
            fc.constantFrom("2", "2,4,6,9,11", "*", "FEB", "3", "3,10"),
            fc.constantFrom("*", "+MON#5", "+SUN#L", "+SUN#2", "+1", "7"),
          )
          .map((fields) => fields.join(" ").trim()),
      ),
      fc.constantFrom(...ZONES, "Antarctica/Troll"),
      (cron, timezone) => {
        const looks = looksAtClock(() => {
          const problem = timingProblem(cron, timezone, NOW);
          if (problem === null) expect(slotsOf(cron, timezone)(NOW)).toBeGreaterThan(NOW);
        });
        expect(looks).toBeLessThan(50_000);
      },
    ),
    { numRuns: 400 },
  );
});
