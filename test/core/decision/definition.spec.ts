import { InvalidOptionsError, parseDefinition } from '../../../lib/core/decision/index.js';

const MEGABYTE = 'x'.repeat(1_000_000);

function faultsOf(input: unknown): readonly string[] {
  try {
    parseDefinition(input, 500);
  } catch (error) {
    if (error instanceof InvalidOptionsError) return error.faults;
    throw error;
  }
  return [];
}

describe('a definition', () => {
  it('needs a name and a duration: one permit, for anyone', () => {
    expect(parseDefinition({ name: 'job', duration: '10m' }, 500)).toEqual({
      name: 'job',
      groupPattern: '.*',
      acquirerPattern: '.*',
      permits: 1,
      duration: 600_000,
    });
  });

  it.each([
    ['no permit, a pause', { permits: 0 }],
    ['1,000 permits', { permits: 1000 }],
    ['a name of 200 characters', { name: 'x'.repeat(200) }],
    ['a name of dots that is no folder', { name: '...' }],
    ['a name in any script', { name: 'Übernahme 引き継ぎ 🚚' }],
    ['a duration just more than three times the tolerance', { duration: 1501 }],
  ])('may have %s', (_what, changes) => {
    expect(faultsOf({ name: 'job', duration: 5000, ...changes })).toEqual([]);
  });

  it.each([
    ['no name', { name: undefined }, /^name: undefined is not text/],
    ['an empty name', { name: '' }, /^name: is empty/],
    ['a name that is a number', { name: 5 }, /^name: 5 is not text/],
    ['a name of a megabyte', { name: MEGABYTE }, /^name: "x+… \(1000002 characters\) is longer than 200 characters/],
    ['a name with a line break', { name: 'a\nb' }, /^name: "a\\nb" has control characters/],
    ['a name with half a character', { name: 'a\ud83d' }, /^name: .* has half a character/],
    ['a name that is a folder in a URL', { name: '.' }, /^name: "\." can't stand in a URL/],
    ['a name that is the folder above in a URL', { name: '..' }, /^name: "\.\." /],
    ['1,001 permits', { permits: 1001 }, /^permits: 1001 is not a whole number from 0 \(paused\) to 1000/],
    ['a negative number of permits', { permits: -1 }, /^permits: -1 /],
    ['half a permit', { permits: 0.5 }, /^permits: 0.5 /],
    ['permits in words', { permits: '1' }, /^permits: "1" /],
    ['NaN permits', { permits: Number.NaN }, /^permits: NaN /],
    ['a group pattern that is none', { groupPattern: '(' }, /^groupPattern: "\(" .*: missing closing \): `\(`/],
    ['an acquirer pattern that is none', { acquirerPattern: '*' }, /^acquirerPattern: "\*" /],
    ['a pattern of a megabyte', { groupPattern: MEGABYTE }, /^groupPattern: "x+… .* is longer than 4096/],
    ['a pattern that is a RegExp', { groupPattern: /a/ }, /^groupPattern: \/a\/ is not text/],
    ['no duration', { duration: undefined }, /^duration: undefined /],
    ['a duration of 0', { duration: 0 }, /^duration: 0 /],
    ['a duration that is no number', { duration: 'soon' }, /^duration: "soon" /],
    ['a duration of three times the tolerance', { duration: 1500 }, /^duration: 1500 ms must be more than 3 x/],
    ['an unknown field', { permit: 2 }, /^permit: not known here; the options are name, groupPattern/],
  ])('with %s has one fault that names field and value', (_what, changes, fault) => {
    const faults = faultsOf({ name: 'job', duration: 5000, ...changes });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(fault);
    expect(faults[0]!.length).toBeLessThan(250);
  });

  it('lists all its faults at once', () => {
    const faults = faultsOf({ name: '', groupPattern: '(', acquirerPattern: ')', permits: -1, duration: 'x' });
    expect(faults.map((fault) => fault.split(':')[0])).toEqual([
      'name',
      'groupPattern',
      'acquirerPattern',
      'permits',
      'duration',
    ]);
  });

  it.each([undefined, null, 17, 'job', []])('is not %p', (input) => {
    expect(faultsOf(input)).toHaveLength(1);
  });
});
