/** A day, as far as the rules ask for it. */
export interface Day {
  /** In the month, from 1. */
  readonly day: number;
  /** From 0, Sunday. */
  readonly weekday: number;
  /** Number of the last day of the month. */
  readonly last: number;
}

/** Says whether a day is allowed. */
export type DayRule = (day: Day) => boolean;

/** An expression in which all that the package `cron` does not read is taken apart. */
export interface SpecialDays {
  /** The rest, for the package. */
  readonly plain: string;
  /** Rules for days of the month. */
  readonly days: readonly DayRule[];
  /** Rules for days of the week. */
  readonly weekdays: readonly DayRule[];
  /** Whether the rest has days of the month, or of the week. Where it has none, its field is `*`. */
  readonly hasPlain: { readonly days: boolean; readonly weekdays: boolean };
}

/** The package reads all of the expression. */
export const ALL_PLAIN: SpecialDays = {
  plain: '',
  days: [],
  weekdays: [],
  hasPlain: { days: true, weekdays: true },
};

const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const NAME = `[0-7]|${WEEKDAYS.join('|')}`;

/**
 * Reads what other schedulers know of days, and the package `cron` does not:
 *
 * | part              | of the day of the | it means                                                    |
 * | ----------------- | ----------------- | ----------------------------------------------------------- |
 * | `L`, `L-3`        | month             | the last day, the third before it                           |
 * | `15W`, `LW`       | month             | the working day next to the 15th, or to the last day, in the month |
 * | `FRI#2`, `5#2`    | week              | the second Friday of the month                              |
 * | `FRIL`, `5L`      | week              | the last Friday of the month                                |
 * | `FRI-MON`         | week              | a range over the end of the week                            |
 */
export function readSpecialDays(expression: string): SpecialDays {
  const fields = expression.trim().split(/\s+/u);
  const none: SpecialDays = { ...ALL_PLAIN, plain: expression };
  if (fields.length < 5 || fields.length > 6) return none;
  const [days, weekdays] = [divide(fields.at(-3)!, dayRule), divide(fields.at(-1)!, weekdayRule)];
  if (days.rules.length + weekdays.rules.length === 0) return none;
  const plain = [...fields.slice(0, -3), days.plain || '*', fields.at(-2)!, weekdays.plain || '*'];
  const hasPlain = { days: days.plain !== '', weekdays: weekdays.plain !== '' };
  return { plain: plain.join(' '), days: days.rules, weekdays: weekdays.rules, hasPlain };
}

function divide(field: string, ruleOf: (part: string) => DayRule | undefined) {
  const parts = field.split(',').map((part) => ({ part, rule: ruleOf(part.toLowerCase()) }));
  const plain = parts.filter(({ rule }) => !rule).map(({ part }) => part);
  return { plain: plain.join(','), rules: parts.flatMap(({ rule }) => rule ?? []) };
}

function dayRule(part: string): DayRule | undefined {
  const [isOfEnd, , before = '0'] = /^l(-(\d{1,2}))?$/u.exec(part) ?? [];
  if (isOfEnd !== undefined) return ({ day, last }) => day === last - Number(before);
  const [isWorking, near] = /^(l|[1-9]|[12]\d|3[01])w$/u.exec(part) ?? [];
  if (isWorking === undefined) return undefined;
  return (day) => isNearest(day, near === 'l' ? day.last : Number(near));
}

/** Whether a day is the working day next to another one of its month. */
function isNearest({ day, weekday, last }: Day, wanted: number): boolean {
  if (wanted > last) return false;
  const of = (((weekday + wanted - day) % 7) + 7) % 7;
  // A Saturday goes back and a Sunday on, unless that leaves the month.
  if (of === 6) return day === (wanted === 1 ? 3 : wanted - 1);
  if (of === 0) return day === (wanted === last ? last - 2 : wanted + 1);
  return day === wanted;
}

function weekdayRule(part: string): DayRule | undefined {
  const [isCounted, counted, number] = new RegExp(`^(${NAME})#([1-5])$`, 'u').exec(part) ?? [];
  if (isCounted !== undefined)
    return ({ day, weekday }) => weekday === numberOf(counted!) && Math.ceil(day / 7) === Number(number);
  const [isLast, ending] = new RegExp(`^(${NAME})l$`, 'u').exec(part) ?? [];
  if (isLast !== undefined) return ({ day, weekday, last }) => weekday === numberOf(ending!) && day > last - 7;
  const [isRange, first, final] = new RegExp(`^(${NAME})-(${NAME})$`, 'u').exec(part) ?? [];
  if (isRange === undefined || final === '7') return undefined;
  const [from, to] = [numberOf(first!), numberOf(final!)];
  return from > to ? ({ weekday }) => weekday >= from || weekday <= to : undefined;
}

/** The package, too, knows Sunday as 0 and as 7. */
function numberOf(name: string): number {
  const place = WEEKDAYS.indexOf(name);
  return place >= 0 ? place : Number(name) % 7;
}
