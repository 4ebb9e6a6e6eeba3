import { CronTime } from 'cron';
import { Cron } from 'croner';
import { readTicks } from '../../../lib/core/cron/ticks.js';

/** The next ticks in Berlin after a local time, as local times with their offset. */
function ticksAfter(expression: string, after: string, count: number, timeZone = 'Europe/Berlin'): string[] {
  const read = readTicks(expression, timeZone);
  if ('faults' in read) throw new Error(read.faults.join());
  const found: string[] = [];
  for (let at = Date.parse(after); found.length < count;) found.push(local((at = read.ticks.next(at)), timeZone));
  return found;
}

function local(instant: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const offset = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
    .format(instant)
    .split('GMT')[1];
  return `${format.format(instant)}${offset || '+00:00'}`.replace(/^\d+-\d+-/, '').replace(' ', 'T');
}

describe('the planned times of an expression', () => {
  it.each([
    ['0 3 * * *', '2026-06-01T00:00Z', ['01T03:00:00+02:00', '02T03:00:00+02:00']],
    ['*/20 * * * * *', '2026-06-01T00:00:20Z', ['01T02:00:40+02:00', '01T02:01:00+02:00']],
    ['0 9 * * 1', '2026-06-01T07:00Z', ['08T09:00:00+02:00', '15T09:00:00+02:00']],
    ['@daily', '2026-06-01T00:00Z', ['02T00:00:00+02:00', '03T00:00:00+02:00']],
  ])('%s come in their order, each later than the one before', (expression, after, expected) => {
    expect(ticksAfter(expression, after, 2)).toEqual(expected);
  });

  it('are some time after a leap day only', () => {
    expect(readTicks('0 0 29 2 *', 'UTC')).toHaveProperty('ticks');
    expect(ticksAfter('0 0 29 2 *', '2026-01-01T00:00Z', 1, 'UTC')).toEqual(['29T00:00:00+00:00']);
  });

  it.each([
    ['in New York', 'America/New_York', '2026-11-01T04:00Z', ['01T01:30:00-04:00', '02T01:30:00-05:00']],
    [
      'on Lord Howe, by half an hour',
      'Australia/Lord_Howe',
      '2026-04-04T12:00Z',
      ['05T01:30:00+11:00', '06T01:30:00+10:30'],
    ],
  ])('are once where the clocks go back %s', (_where, timeZone, after, expected) => {
    expect(ticksAfter('30 1 * * *', after, 2, timeZone)).toEqual(expected);
  });
});

describe('in UTC, the planned times', () => {
  it.each([
    '* * * * * *',
    '*/7 13,59 */5 * * *',
    '59 59 23 31 12 *',
    '0 0 29 2 *',
    '0 0 13 * 5',
    '0 0 * * 1-5',
    '0 0 1 1 0,7',
    '30 4 1,15 * 5',
    '0 12 31 * *',
    '0 0 * jan,dec sun',
    '*/10 8-9 * * 1-5',
    '@weekly',
  ])('of %s are those of the package cron', (expression) => {
    const read = readTicks(expression, 'UTC');
    if ('faults' in read) throw new Error(read.faults.join());
    const cron = new CronTime(expression, 'UTC');
    for (let at = Date.parse('2026-01-01T00:00:00.500Z'); at < Date.parse('2027-03-01'); at += 11 * 86_400_123) {
      expect(read.ticks.next(at)).toBe(cron.getNextDateFrom(new Date(at), 'UTC').toMillis());
    }
  });
});

describe('when the clocks skip the hour after 2 (29 March 2026)', () => {
  it.each([
    ['comes right after the skip', '30 2 * * *', ['28T02:30:00+01:00', '29T03:00:00+02:00', '30T02:30:00+02:00']],
    [
      'comes once, if several were skipped',
      '0,30 2 * * *',
      ['28T02:00:00+01:00', '28T02:30:00+01:00', '29T03:00:00+02:00', '30T02:00:00+02:00'],
    ],
    [
      'comes once, if another one is right after the skip',
      '0 2,3 * * *',
      ['28T02:00:00+01:00', '28T03:00:00+01:00', '29T03:00:00+02:00', '30T02:00:00+02:00'],
    ],
    [
      'comes as always, if it was not skipped',
      '0 3 * * *',
      ['28T03:00:00+01:00', '29T03:00:00+02:00', '30T03:00:00+02:00'],
    ],
  ])('a tick of an expression that names hours %s', (_rule, expression, expected) => {
    expect(ticksAfter(expression, '2026-03-28T00:00Z', expected.length)).toEqual(expected);
  });

  it.each([
    ['*/30 * * * *', ['29T01:30:00+01:00', '29T03:00:00+02:00', '29T03:30:00+02:00']],
    ['30 * * * *', ['29T01:30:00+01:00', '29T03:30:00+02:00', '29T04:30:00+02:00']],
  ])('an expression for every hour goes on by real time: %s', (expression, expected) => {
    expect(ticksAfter(expression, '2026-03-29T00:00Z', 3)).toEqual(expected);
  });
});

describe('when the clocks repeat the hour after 2 (25 October 2026)', () => {
  it.each([
    ['comes in the first of the two', '30 2 * * *', ['24T02:30:00+02:00', '25T02:30:00+02:00', '26T02:30:00+01:00']],
    ['comes once after both', '0 3 * * *', ['24T03:00:00+02:00', '25T03:00:00+01:00', '26T03:00:00+01:00']],
    [
      'comes in the first of the two, also several times',
      '*/30 2 * * *',
      ['24T02:00:00+02:00', '24T02:30:00+02:00', '25T02:00:00+02:00', '25T02:30:00+02:00', '26T02:00:00+01:00'],
    ],
  ])('a tick of an expression that names hours %s', (_rule, expression, expected) => {
    expect(ticksAfter(expression, '2026-10-23T22:00Z', expected.length)).toEqual(expected);
  });

  it('an expression for every hour goes on by real time, in both', () => {
    const expected = [
      '25T02:00:00+02:00',
      '25T02:30:00+02:00',
      '25T02:00:00+01:00',
      '25T02:30:00+01:00',
      '25T03:00:00+01:00',
    ];
    expect(ticksAfter('*/30 * * * *', '2026-10-24T23:30Z', 5)).toEqual(expected);
  });

  it('the tick after both is found by few looks at the zone, from any second of the repeated one', () => {
    const read = readTicks('* * 0-5 * * *', 'Europe/Berlin');
    if ('faults' in read) throw new Error(read.faults.join());
    const looks = jest.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts');
    expect(read.ticks.next(Date.parse('2026-10-25T01:00:01Z'))).toBe(Date.parse('2026-10-25T02:00Z'));
    expect(looks.mock.calls.length).toBeLessThan(50);
    looks.mockRestore();
  });

  it('no tick is before the time that was asked for, from any second of both hours', () => {
    for (const expression of ['0 3 * * *', '30 2 * * *', '*/7 * * * *', '15 2,4 * * *']) {
      const read = readTicks(expression, 'Europe/Berlin');
      if ('faults' in read) throw new Error(read.faults.join());
      let former = -Infinity;
      for (let at = Date.parse('2026-10-24T23:00Z'); at < Date.parse('2026-10-25T03:00Z'); at += 61_000) {
        const next = read.ticks.next(at);
        expect(next).toBeGreaterThan(at);
        expect(next).toBeGreaterThanOrEqual(former);
        former = next;
      }
    }
  });
});

describe('the last tick before a moment', () => {
  it.each(['*/7 * * * *', '0 3 * * *', '* * * * * *', '0 0 1 1 *', '*/10 8-9 * * 1-5'])(
    'of %s is the one that next() gives',
    (expression) => {
      const read = readTicks(expression, 'Europe/Berlin');
      if ('faults' in read) throw new Error(read.faults.join());
      const from = Date.parse('2024-01-01T00:00Z');
      for (const until of ['2026-10-25T00:17:03Z', '2026-10-25T01:30:00.500Z', '2026-03-29T01:00Z'].map((text) =>
        Date.parse(text),
      )) {
        const latest = read.ticks.latest(from, until);
        expect(latest).toBeLessThanOrEqual(until);
        expect(read.ticks.next(latest)).toBeGreaterThan(until);
        expect(read.ticks.next(latest - 1)).toBe(latest);
      }
    },
  );
});

describe('an expression or a zone that can not be used', () => {
  it.each([
    [
      '61 * * * *',
      'UTC',
      'expression: "61 * * * *" is no cron expression (Field value (61) is out of range): give 5 or 6 fields, such as "0 3 * * *"',
    ],
    ['* *', 'UTC', '(Too few fields)'],
    [7, 'UTC', '(it is not a text)'],
    ['0 0 30 2 *', 'UTC', 'expression: "0 0 30 2 *"'],
    [
      '0 3 * * *',
      'Europe/Bielefeld',
      'timeZone: "Europe/Bielefeld" is no time zone: give a name such as "Europe/Berlin"',
    ],
  ])('%s in %s is refused with a sentence that says what to do', (expression, timeZone, fault) => {
    const read = readTicks(expression, timeZone);
    expect('faults' in read && read.faults).toEqual([expect.stringContaining(fault)]);
  });
});

describe('days that the package cron does not read', () => {
  const EXPRESSIONS = [
    '0 3 L * *',
    '0 3 15W * *',
    '0 3 1W * *',
    '0 3 31W * *',
    '0 3 LW * *',
    '0 3 * * FRI#2',
    '0 3 * * 5#5',
    '0 3 * * FRIL',
    '0 3 * * 1L',
    '0 3 * * FRI-MON',
    '0 3 * * 6-1',
    '30 0 3 * * MON#1,WED#3',
    '0 3 10,L * *',
    '0 3 L 2 *',
  ];

  it.each(EXPRESSIONS)('%s have the times that another library finds', (expression) => {
    const read = readTicks(expression, 'Europe/Berlin');
    if ('faults' in read) throw new Error(read.faults.join());
    const wrapped = expression.replace('FRI-MON', 'FRI,SAT,SUN,MON').replace('6-1', '6,0,1');
    const other = new Cron(wrapped, { timezone: 'Europe/Berlin' });
    let at = Date.parse('2026-01-01T00:00Z');
    for (let count = 0; count < 40; count++) {
      const next = read.ticks.next(at);
      expect(new Date(next).toISOString()).toBe(other.nextRun(new Date(at))!.toISOString());
      at = next;
    }
  });

  it.each([
    ['0 3 L-2 * *', ['29T03:00:00+01:00', '26T03:00:00+01:00', '29T03:00:00+02:00']],
    [
      '0 3 L * MON',
      ['05T03:00:00+01:00', '12T03:00:00+01:00', '19T03:00:00+01:00', '26T03:00:00+01:00', '31T03:00:00+01:00'],
    ],
  ])('%s', (expression, expected) => {
    expect(ticksAfter(expression, '2026-01-01T12:00Z', expected.length)).toEqual(expected);
  });

  it.each(['0 3 32W * *', '0 3 * * FRI#6', '0 3 * * L', '0 3 W * *', '0 3 * * #2', 'L 3 * * *'])(
    '%s is refused',
    (expression) => {
      expect(readTicks(expression, 'UTC')).toHaveProperty('faults');
    },
  );
});
