/** What the fields of a pattern admit; days and months from 0, Sunday is 0. */
export interface Fields {
  second: readonly boolean[];
  minute: readonly boolean[];
  hour: readonly boolean[];
  day: readonly boolean[];
  month: readonly boolean[];
  /** For each weekday a bit for its first, second … fifth of the month, and LAST. */
  weekday: readonly number[];
  /** Days whose nearest weekday is meant. */
  nearest: readonly boolean[];
  lastDay: boolean;
  lastWeekday: boolean;
  anyDay: boolean;
  anyWeekday: boolean;
  /** Day of month and day of week both have to fit; else one is enough where both are given. */
  both: boolean;
  /** Hours, minutes and seconds are written out: a time of the clock, which each day has once. */
  fixed: boolean;
}

export const LAST = 32;
const EVERY = 63;

/** Name, how many values, the first one as it is written. */
const FIELDS = [
  ["second", 60, 0],
  ["minute", 60, 0],
  ["hour", 24, 0],
  ["day of month", 31, 1],
  ["month", 12, 1],
  ["day of week", 7, 0],
] as const;
const [DAY, MONTH, WEEKDAY] = [3, 4, 5];

const ALIASES = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** Throws an Error whose message goes on after "is not a cron pattern: ". */
export function parseFields(cron: string): Fields {
  const name = cron.trim().toLowerCase();
  if (name === "@reboot") throw new Error("@reboot is no time");
  const parts = (ALIASES.get(name) ?? cron).replaceAll("?", "*").match(/\S+/g) ?? [""];
  const count = parts.length;
  if (count < 5 || count > 6)
    throw new Error(`it has ${count} ${count === 1 ? "field" : "fields"}`);
  if (count === 5) parts.unshift("0");

  const days = readLast(parts[DAY] as string);
  parts[DAY] = days.rest;
  parts[MONTH] = withoutNames(MONTH, parts[MONTH] as string, MONTHS, 1);
  const weekdays = withoutNames(WEEKDAY, parts[WEEKDAY] as string, WEEKDAYS, 0);
  const both = weekdays.startsWith("+");
  parts[WEEKDAY] = both ? weekdays.slice(1) : weekdays;

  for (const [field, text] of parts.entries()) {
    const strange =
      field === DAY ? /[^/*\d,\-W]/i : field === WEEKDAY ? /[^/*\d,\-#L]/i : /[^/*\d,-]/;
    if (strange.test(text)) throw unreadable(field, text);
  }
  const values = FIELDS.map(([, size]) => Array<number>(size).fill(0));
  const nearest = Array<number>(31).fill(0);
  for (const [field, text] of parts.entries()) {
    if (field === DAY && text === "" && (days.lastDay || days.lastWeekday)) continue;
    for (const item of text.split(",")) {
      const isNearest = field === DAY && /W/i.test(item);
      admit(field, item, (isNearest ? nearest : values[field]) as number[]);
    }
  }
  const [second, minute, hour, day, month] = values.map((all) => all.map(Boolean)) as boolean[][];
  return {
    ...({ second, minute, hour, day, month } as Pick<
      Fields,
      "second" | "minute" | "hour" | "day" | "month"
    >),
    weekday: values[WEEKDAY] as number[],
    nearest: nearest.map(Boolean),
    lastDay: days.lastDay,
    lastWeekday: days.lastWeekday,
    anyDay: parts[DAY] === "*",
    anyWeekday: parts[WEEKDAY] === "*",
    both,
    fixed: !/[*/]/.test(parts.slice(0, 3).join()),
  };
}

/** L and LW of the day of month. */
function readLast(text: string): { rest: string; lastDay: boolean; lastWeekday: boolean } {
  if (/^LW$/i.test(text)) return { rest: "", lastDay: false, lastWeekday: true };
  if (!/L/i.test(text)) return { rest: text, lastDay: false, lastWeekday: false };
  const items = text.split(",");
  const rest = items.filter((item) => !/^L$/i.test(item));
  if (rest.some((item) => item === "" || /L/i.test(item))) {
    throw unreadable(DAY, text, "L is a value of its own there, and LW the only one");
  }
  return { rest: rest.join(), lastDay: true, lastWeekday: false };
}

/** Sunday ends a range as 7. */
function withoutNames(field: number, text: string, names: string[], first: number): string {
  return text.replace(
    new RegExp(`(-?)(${names.join("|")})`, "gi"),
    (_, dash: string, name: string, at: number) => {
      const start = at + dash.length;
      if (/[a-z\d/#]/i.test(text.charAt(start - 1)) || /[a-km-z\d]/i.test(text.charAt(start + 3))) {
        throw unreadable(field, text, "a month or day name has to stand alone");
      }
      const value = names.indexOf(name.toLowerCase()) + first;
      return `${dash}${dash !== "" && name.toLowerCase() === "sun" ? 7 : value}`;
    },
  );
}

/** One item of a list: a number, a range, a step of one or of all; of weekdays perhaps the nth ones. */
function admit(field: number, item: string, values: number[]): void {
  const [, size, first] = FIELDS[field] as (typeof FIELDS)[number];
  if (item === "*") return void values.fill(field === WEEKDAY ? EVERY : 1);
  const [, body = "", nth] = /^([^#L]*)(?:#(.*)|L)?$/i.exec(item) ?? [];
  const isLast = body !== item && (nth === undefined || /^L$/i.test(nth));
  const bits = isLast ? LAST : body === item ? EVERY : 1 << (Number(nth) - 1);
  if (body !== item && !isLast && !/^0*[1-5]$/.test(nth ?? "")) {
    throw unreadable(field, item, "after # stands a number from 1 to 5, or L");
  }
  const [, from = "", , to, step] =
    /^(\*|\d+)(-(\d+))?(?:\/(\d+))?$/.exec(body.replace(/^(\d+)W$/i, "$1")) ?? [];
  if (from === "" && body.startsWith("/")) throw unreadable(field, item, STEPS);
  if (from === "" || (from === "*" && (to !== undefined || step === undefined))) {
    throw unreadable(field, item);
  }
  if (from !== "*" && to === undefined && step !== undefined) throw unreadable(field, item, STEPS);
  const by = Number(step ?? 1);
  if (by < 1 || by > size) throw unreadable(field, item, `a step is from 1 to ${size}`);
  const start = from === "*" ? first : Number(from);
  const end = from === "*" ? first + size - 1 : Number(to ?? from);
  if (start > end) throw unreadable(field, item, "a range goes up");
  for (let value = start; value <= end; value += by) {
    const at = field === WEEKDAY && value === 7 ? 0 : value - first;
    if (at < 0 || at >= size) throw new Error(`its field ${FIELDS[field]?.[0]} has no ${value}`);
    values[at] = field === WEEKDAY ? (values[at] as number) | bits : 1;
  }
}

const STEPS = "Use wildcard (*/step) or range (min-max/step) instead";

function unreadable(field: number, text: string, why?: string): Error {
  const what = `its field ${FIELDS[field]?.[0]} cannot be read: ${text}`;
  return new Error(why === undefined ? what : `${what}. ${why}`);
}
