import fc from 'fast-check';
import { type NameEntry, MOST_NAMES, ShardNames } from '../../../lib/core/decision/index.js';
import { hashOf } from '../../../lib/core/decision/texts/hash-of.js';
import { START, aDefinition, aPermit } from './worlds.js';

const entryOf = (end: number): NameEntry => ({
  revision: 1,
  permits: [aPermit('n1', { id: `permit-${end}`, expiresAt: START + end })],
});
const write = (name: string, { permits }: NameEntry) => `${name}=${permits.map(({ id }) => id).join('+')}`;
const sorted = (names: Iterable<readonly [string, NameEntry]>) =>
  [...names].toSorted(([one], [other]) => (one < other ? -1 : 1));

/** Some of few names, so that names come, change and go again; many enough for several pages. */
const anyStep = fc.record({
  name: fc.integer({ min: 0, max: 150 }).map((index) => (index === 0 ? '__proto__' : `örder-${index}`)),
  end: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined, freq: 3 }),
});
const anySteps = fc.array(anyStep, { maxLength: 400, size: 'max' });
type Steps = readonly { readonly name: string; readonly end: number | undefined }[];

const after = (steps: Steps, from = ShardNames.NONE) =>
  steps.reduce((names, { name, end }) => (end ? names.with(name, entryOf(end)) : names.without(name)), from);
const expected = (steps: Steps, from: Iterable<readonly [string, NameEntry]> = []) => {
  const map = new Map(from);
  for (const { name, end } of steps)
    if (end) map.set(name, entryOf(end));
    else map.delete(name);
  return map;
};

/** Each pair leads from one hash to the same next one, so all 64 names that are made of them have the same hash. */
const SAME_NEXT = [
  ['76mmiq', '2391dx'],
  ['uuxd08', '19xroen'],
  ['6ah2a5', 'w9gl1q'],
  ['1bhgix', '168vjom'],
  ['jq8j80', '1k53a97'],
  ['1pggb4v', 'hhacrg'],
] as const;
const SAME_HASH = SAME_NEXT.reduce((names, pair) => names.flatMap((name) => pair.map((text) => name + text)), ['']);

describe('the names of a shard', () => {
  it('are those that were put and not taken away since', () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const [names, map] = [after(steps), expected(steps)];
        expect(sorted(names)).toEqual(sorted(map));
        expect(names.size).toBe(map.size);
        for (const { name } of steps)
          expect([names.has(name), names.get(name)]).toEqual([map.has(name), map.get(name)]);
        expect([...names.keys()].toSorted()).toEqual([...map.keys()].toSorted());
      }),
      { numRuns: 50 },
    );
  });

  it('stay as they were when others are made of them', () => {
    fc.assert(
      fc.property(anySteps, anySteps, (steps, more) => {
        const names = after(steps);
        const before = [sorted(names), names.text(write)];
        after(more, names).text(write);
        expect([sorted(names), names.text(write)]).toEqual(before);
      }),
      { numRuns: 50 },
    );
  });

  it('have the text of each of them once, whatever was written before', () => {
    fc.assert(
      fc.property(anySteps, anySteps, (steps, more) => {
        const names = after(steps);
        names.text(write);
        const next = after(more, names);
        const texts = sorted(expected(more, names)).map(([name, entry]) => write(name, entry));
        const found = next.text(write);
        expect(found === '' ? [] : found.split(',').toSorted()).toEqual(texts.toSorted());
      }),
      { numRuns: 50 },
    );
  });

  it('tell all that differs from another version, however many came or went between', () => {
    fc.assert(
      fc.property(anySteps, anySteps, (steps, more) => {
        const names = after(steps);
        const next = after(more, names);
        const map = new Map(names);
        next.eachChange(names, (name, before, now) => {
          expect([before, now]).toEqual([names.get(name), next.get(name)]);
          if (now) map.set(name, now);
          else map.delete(name);
        });
        expect(sorted(map)).toEqual(sorted(next));
      }),
      { numRuns: 50 },
    );
  });

  it('tell no name that a change of another one left as it was', () => {
    const names = ShardNames.of(Array.from({ length: MOST_NAMES }, (_, index) => [`order-${index}`, entryOf(1)]));
    const told: string[] = [];
    names.with('order-7', entryOf(2)).eachChange(names, (name) => told.push(name));
    names.without('order-8').eachChange(names, (name) => told.push(name));
    expect(told).toEqual(['order-7', 'order-8']);
  });

  it('may all have the same hash', () => {
    expect(new Set(SAME_HASH.map(hashOf)).size).toBe(1);
    const map = new Map(SAME_HASH.map((name, index) => [name, entryOf(index)]));
    const names = ShardNames.of(map).with('order-7', entryOf(1));
    const decoded = ShardNames.of(names);
    expect(SAME_HASH.map((name) => decoded.get(name))).toEqual(SAME_HASH.map((name) => map.get(name)));
    const gone = SAME_HASH.slice(0, 3);
    const left = gone.reduce((rest, name) => rest.without(name), decoded);
    const told: string[] = [];
    left.eachChange(names, (name, _before, after) => told.push(...(after ? [] : [name])));
    expect(told).toEqual(gone);
    expect([left.size, left.has(gone[0]!), left.has(SAME_HASH.at(-1)!)]).toEqual([62, false, true]);
  });

  it('write the text of a name once, however often others change beside it', () => {
    const names = ShardNames.of(Array.from({ length: MOST_NAMES }, (_, index) => [`order-${index}`, entryOf(1)]));
    names.text(write);
    let written = 0;
    for (let end = 2; end < 9; end++) {
      names.with('order-7', entryOf(end)).text((name, entry) => (written++, write(name, entry)));
    }
    expect(written).toBe(7);
  });

  it('know when the first of their permits ends', () => {
    expect(ShardNames.NONE.firstEnd).toBe(Infinity);
    const names = ShardNames.of(Array.from({ length: 100 }, (_, index) => [`order-${index}`, entryOf(5 + index)]));
    expect(names.firstEnd).toBe(START + 5);
    expect(names.without('order-0').firstEnd).toBe(START + 6);
    expect(names.with('order-50', entryOf(1)).firstEnd).toBe(START + 1);
  });

  it('count one without a permit and without a definition as ended', () => {
    const left = { revision: 1, permits: [] };
    expect(ShardNames.of([['order-1', left]]).firstEnd).toBe(-Infinity);
    expect(ShardNames.of([['order-1', { ...left, definition: aDefinition() }]]).firstEnd).toBe(Infinity);
  });
});
