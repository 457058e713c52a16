import { LAST } from "./fields.ts";
import type { Fields } from "./fields.ts";

/** ms of a wall clock, counted as if it showed UTC. */
export type WallTime = number;

const SECOND = 1_000;
const DAY = 86_400 * SECOND;
/** The calendar repeats itself after that; what no day fits until then never fits. */
const YEARS = 400;

/** The first time of the wall clock at or after `from` that fits, or null. */
export function nextWallTime(fields: Fields, from: WallTime): WallTime | null {
  const today = Math.floor(from / DAY) * DAY;
  const last = new Date(from).getUTCFullYear() + YEARS;
  for (let day = today; ; day += DAY) {
    const date = new Date(day);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    if (year > last) return null;
    if (fields.month[month] !== true) {
      day = Date.UTC(year, month + 1) - DAY;
    } else if (fitsDay(fields, year, month, date.getUTCDate())) {
      const time = nextTime(fields, day === today ? Math.ceil((from - today) / SECOND) : 0);
      if (time !== null) return day + time * SECOND;
    }
  }
}

/** s since midnight, at or after `from`. */
function nextTime({ hour, minute, second }: Fields, from: number): number | null {
  for (let h = Math.floor(from / 3_600); h < 24; h += 1) {
    if (hour[h] !== true) continue;
    for (let m = Math.max(0, Math.floor((from - h * 3_600) / 60)); m < 60; m += 1) {
      if (minute[m] !== true) continue;
      const start = h * 3_600 + m * 60;
      const s = second.indexOf(true, Math.max(0, from - start));
      if (s >= 0) return start + s;
    }
  }
  return null;
}

function fitsDay(fields: Fields, year: number, month: number, day: number): boolean {
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const weekdayOf = (one: number) => new Date(Date.UTC(year, month, one)).getUTCDay();
  /** Without leaving the month. */
  const nearest = (one: number) => {
    const weekday = weekdayOf(one);
    if (weekday === 0) return one === last ? one - 2 : one + 1;
    return weekday === 6 ? (one === 1 ? 3 : one - 1) : one;
  };
  const fitsMonth =
    fields.day[day - 1] === true ||
    (fields.lastDay && day === last) ||
    (fields.lastWeekday && day === nearest(last)) ||
    fields.nearest.some((meant, index) => meant && index < last && nearest(index + 1) === day);
  if (fields.anyWeekday) return fitsMonth;
  const bits = fields.weekday[weekdayOf(day)] as number;
  const nth = 1 << (Math.ceil(day / 7) - 1);
  const fitsWeek = (bits & nth) !== 0 || ((bits & LAST) !== 0 && day + 7 > last);
  return fields.both || fields.anyDay ? fitsMonth && fitsWeek : fitsMonth || fitsWeek;
}
