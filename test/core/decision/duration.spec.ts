import fc from 'fast-check';
import { LONGEST_DURATION, readDelay, readDuration, show } from '../../../lib/core/decision/index.js';
import { threadCpu } from '../../console/longest-block.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const NO_DURATION = 'is not a duration';
const TOO_LONG = 'longer than a year';
const NOT_ABOVE_0 = 'must be more than 0';

describe('a duration', () => {
  it.each([
    [1, 1],
    [1.2, 2],
    ['500ms', 500],
    ['10s', 10_000],
    ['5m', 300_000],
    ['1.5h', 5_400_000],
    ['250', 250],
    [LONGEST_DURATION, LONGEST_DURATION],
  ])('of %p is %p ms', (value, expected) => {
    expect(readDuration(value)).toBe(expected);
  });

  it.each([
    ['', NO_DURATION],
    ['abc', NO_DURATION],
    ['5 fortnights', NO_DURATION],
    ['x'.repeat(1_000_000), NO_DURATION],
    [Number.NaN, NO_DURATION],
    [Infinity, NO_DURATION],
    [null, NO_DURATION],
    [{}, NO_DURATION],
    [true, NO_DURATION],
    [0, NOT_ABOVE_0],
    [-1, NOT_ABOVE_0],
    ['-5s', NOT_ABOVE_0],
    [LONGEST_DURATION + 1, TOO_LONG],
    ['2y', TOO_LONG],
  ])('of %p is a fault in a sentence that shows it', (value, fault) => {
    expect(readDuration(value)).toContain(fault);
    expect(readDuration(value)).toContain(show(value));
  });

  it('is whole ms, never less than what was asked for', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-9, max: LONGEST_DURATION, noNaN: true }), (value) => {
        const read = readDuration(value);
        expect(Number.isInteger(read)).toBe(true);
        expect(read).toBeGreaterThanOrEqual(value);
      }),
    );
  });
});

describe('an ISO 8601 duration', () => {
  it.each([
    ['PT10M', 10 * MINUTE],
    ['P1DT2H30M', DAY + 2.5 * HOUR],
    ['P1D', DAY],
    ['P2W', 14 * DAY],
    ['P1W2DT3S', 9 * DAY + 3 * SECOND],
    ['PT90M', 90 * MINUTE],
    ['PT1.5H', 1.5 * HOUR],
    ['PT0,25S', 250],
    ['PT0.0001S', 1],
    ['PT2.007S', 2007],
    ['P0DT0H5M', 5 * MINUTE],
    ['PT000005M', 5 * MINUTE],
    // As Java's Duration.parse, which ShedLock uses.
    ['pt15m', 15 * MINUTE],
    ['+PT15M', 15 * MINUTE],
    ['P366D', LONGEST_DURATION],
  ])('of %p is %p ms', (text, expected) => {
    expect(readDuration(text)).toBe(expected);
    expect(readDelay(text)).toBe(expected);
  });

  it.each(['P1M', 'P1Y', 'P0Y', 'P1Y2M3DT4H', 'P0.5Y', 'p1m', '-P1M'])(
    'of %p is refused, because years and months differ in length',
    (text) => {
      const fault = `${show(text)} has years or months, and these differ in length: give days ("P30D")`;
      expect(readDuration(text)).toBe(fault);
      expect(readDelay(text)).toBe(fault);
    },
  );

  it.each([
    ['P', NO_DURATION],
    ['PT', NO_DURATION],
    ['P1', NO_DURATION],
    ['P1DT', NO_DURATION],
    ['P5S', NO_DURATION],
    ['PT5D', NO_DURATION],
    ['PT30M1H', NO_DURATION],
    ['PT1M1M', NO_DURATION],
    ['PT1.5H30M', NO_DURATION],
    ['PT.5S', NO_DURATION],
    ['PT5.S', NO_DURATION],
    ['PT-5M', NO_DURATION],
    ['--PT5M', NO_DURATION],
    ['PT1e3S', NO_DURATION],
    [' PT5M', NO_DURATION],
    ['PT5M\n', NO_DURATION],
    ['PT٥M', NO_DURATION],
    ['P1DT2H/PT1H', NO_DURATION],
    ['2026-01-31T12:00:00Z', NO_DURATION],
    ['PT0S', NOT_ABOVE_0],
    ['-PT5M', NOT_ABOVE_0],
    ['P367D', TOO_LONG],
    ['P366DT0.001S', TOO_LONG],
    [`PT${'9'.repeat(97)}S`, TOO_LONG],
  ])('of %p is a fault in a sentence that shows it', (text, fault) => {
    expect(readDuration(text)).toContain(fault);
    expect(readDuration(text)).toContain(show(text));
  });

  it('is the sum of its parts, whichever of them it has', () => {
    const part = (most: number) => fc.option(fc.integer({ min: 0, max: most }), { nil: undefined });
    const parts = fc.record({ W: part(10), D: part(99), H: part(999), M: part(9999), S: part(99_999) });
    fc.assert(
      fc.property(parts, ({ W, D, H, M, S }) => {
        const written = (amounts: [number | undefined, string][]) =>
          amounts.map(([amount, letter]) => (amount === undefined ? '' : `${amount}${letter}`)).join('');
        const date = written([[W, 'W'], [D, 'D']]); // prettier-ignore
        const time = written([[H, 'H'], [M, 'M'], [S, 'S']]); // prettier-ignore
        fc.pre(date + time !== '');
        const sum = ((W ?? 0) * 7 + (D ?? 0)) * DAY + (H ?? 0) * HOUR + (M ?? 0) * MINUTE + (S ?? 0) * SECOND;
        expect(readDelay(`P${date}${time && `T${time}`}`)).toBe(sum);
      }),
    );
  });

  it('returns the ms that it was written from, with fractions of a second, an hour or a day', () => {
    const units = fc.constantFrom(['PT', 'S', SECOND], ['PT', 'M', MINUTE], ['PT', 'H', HOUR], [
      'P',
      'D',
      DAY,
    ] as const);
    const ms = fc.integer({ min: 1, max: LONGEST_DURATION });
    fc.assert(
      fc.property(ms, units, fc.constantFrom('.', ','), (duration, [start, letter, unit], point) => {
        // Enough digits that rounding up to whole ms finds the same number again: below it by less than 1 ms.
        const fraction = (BigInt(duration % unit) * 10n ** 12n) / BigInt(unit);
        const text = `${start}${Math.floor(duration / unit)}${point}${String(fraction).padStart(12, '0')}${letter}`;
        expect(readDuration(text)).toBe(duration);
      }),
    );
  });

  it('is never read as more than a year, and never as less than it says', () => {
    const digits = fc.stringMatching(/^[0-9]{1,40}([.,][0-9]{1,40})?$/);
    const unit = fc.constantFrom(...'WDHMS');
    fc.assert(
      fc.property(digits, unit, (amount, letter) => {
        const read = readDelay('WD'.includes(letter) ? `P${amount}${letter}` : `PT${amount}${letter}`);
        const unitLength = { W: 7 * DAY, D: DAY, H: HOUR, M: MINUTE, S: SECOND }[letter]!;
        const said = Number(amount.replace(',', '.')) * unitLength;
        const inexact = said * 1e-12;
        const isRight =
          typeof read === 'string'
            ? said + inexact > LONGEST_DURATION
            : Number.isInteger(read) && read <= LONGEST_DURATION && Math.abs(read - said - 0.5) <= 0.5 + inexact;
        expect({ read, isRight }).toEqual({ read, isRight: true });
      }),
    );
  });
});

describe('a delay', () => {
  it.each([0, -0, '0', '0s', '-0s', 'PT0S', 'P0D', '-PT0S'])('of %p is 0 ms', (value) => {
    expect(readDelay(value)).toBe(0);
    expect(readDuration(value)).toContain(NOT_ABOVE_0);
  });

  it('is not negative', () => {
    for (const value of [-1, '-1s', '-PT1S']) expect(readDelay(value)).toBe(`${show(value)} must be 0 ms or more`);
  });
});

describe('hostile text instead of a duration', () => {
  const pieces = [
    'P',
    'T',
    '1',
    '9'.repeat(30),
    '.',
    ',',
    'W',
    'D',
    'H',
    'M',
    'S',
    'Y',
    '-',
    '+',
    ' ',
    'ms',
    '\u0000',
    '٣',
  ];
  const text = fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.string()), { maxLength: 60 })
    .map((all) => all.join(''));

  it('is a duration or a sentence, never an error', () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.anything()), (value) => {
        const read = readDelay(value);
        const isRight =
          typeof read === 'string' ? /\S/.test(read) : Number.isInteger(read) && read >= 0 && read <= LONGEST_DURATION;
        expect({ read, isRight }).toEqual({ read, isRight: true });
      }),
    );
  });

  it('takes no longer than a duration of the same length', () => {
    const shapes = ['P', 'PT', 'PT1', 'P1DT1', '1', '1.', 'PT1,'].flatMap((start) =>
      ['1', '1M', '1.', 'T', '.', ' ', '9', '0'].map((filling) => start + filling.repeat(1_000_000)),
    );
    const cut = shapes.map((shape) => shape.slice(0, 100));
    const begun = threadCpu();
    for (const shape of [...shapes, ...cut]) readDelay(shape);
    // A regular expression that backtracks would take hours for 100 characters, and minutes for a million.
    expect(threadCpu() - begun).toBeLessThan(1000);
  });
});
