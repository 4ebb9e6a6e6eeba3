import { type MasterSet, MOST_RESOURCES, readMasterSet } from '../../lib/allocation/resources/master-set.js';
import {
  type MasterSetState,
  differingSets,
  failReading,
  settleDoubt,
  takeReading,
  withOwnerMap,
} from '../../lib/allocation/resources/master-set-state.js';
import { finish } from './divisions.js';

const read = (items: Iterable<unknown>, idOf: (item: unknown) => unknown = (item) => item) =>
  finish(readMasterSet('queues', items, idOf));

const setOf = (ids: string) => read([...ids]);
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `queue-${index}`);

describe('the resources of a group', () => {
  it('are known by their ids, in ascending order', () => {
    const items = [{ name: 'b' }, { name: 'a' }];
    const set = read(items, (item) => (item as { name: string }).name);
    expect(set.ids).toEqual(['a', 'b']);
    expect(set.items.get('b')).toBe(items[0]);
  });

  it('have the same digest in every order, and another one when an id differs', () => {
    expect(setOf('abc').digest).toBe(setOf('cab').digest);
    expect(setOf('abc').digest).not.toBe(setOf('abd').digest);
    expect(read(['ab']).digest).not.toBe(read(['a', 'b']).digest);
  });

  it('may be none', () => {
    expect(read([])).toMatchObject({ ids: [] });
  });

  it('may be as many as the limit', () => {
    expect(read(numbered(MOST_RESOURCES)).ids).toHaveLength(MOST_RESOURCES);
  });

  it.each<{ items: unknown; fault: string }>([
    {
      items: ['a', 'b', 'a'],
      fault: 'resources[2]: the id "a" is also that of resources[0]: give every resource an id of its own',
    },
    { items: ['a', ''], fault: 'resources[1]: the id is empty' },
    { items: [undefined], fault: 'resources[0]: undefined is not a string: let the id function return a string' },
    {
      items: ['x'.repeat(1024 * 1024)],
      fault: `resources[0]: "${'x'.repeat(49)}… (1048578 characters) is longer than 500 characters: use a shorter id`,
    },
    { items: numbered(MOST_RESOURCES + 1), fault: 'resources: 100001 are too many, 100000 are possible' },
    { items: { [Symbol.iterator]: endless }, fault: 'resources: more than 100000 are too many' },
    { items: undefined, fault: 'resources: undefined is not a list' },
    { items: 'abc', fault: 'resources: "abc" is not' },
  ])('are refused with a sentence: $fault', ({ items, fault }) => {
    const reading = () => read(items as Iterable<unknown>);
    expect(reading).toThrow(`the resources of allocation group "queues" can't be used: ${fault}`);
  });

  it('are refused with the first ten faults only', () => {
    expect(() => read(Array.from({ length: 50 }, () => ''))).toThrow(/^(?:(?!resources\[10\]).)*$/);
  });
});

function* endless() {
  for (let index = 0; ; index++) yield `queue-${index}`;
}

/** Takes readings one after the other. "!" is an error. Gives the set that counts after each, and "?" if there is a problem. */
function readings(texts: readonly string[], owned = ''): string[] {
  let state: MasterSetState = {};
  return texts.map((text) => {
    state =
      text === '!'
        ? failReading(state, new Error('no database'))
        : settleDoubt(finish(takeReading(state, setOf(text), [...owned])), []);
    return `${state.current?.ids.join('') ?? 'none'}${state.problem ? '?' : ''}`;
  });
}

describe('readings of the resources', () => {
  it.each([
    { when: 'some are new and some are gone', texts: ['abcd', 'abxy'], count: ['abcd', 'abxy'] },
    { when: 'all are gone once', texts: ['abcd', '', 'abcd'], count: ['abcd', 'abcd?', 'abcd'] },
    { when: 'all are gone twice', texts: ['abcd', '', ''], count: ['abcd', 'abcd?', ''] },
    { when: 'more than half are gone twice in the same way', texts: ['abcd', 'a', 'a'], count: ['abcd', 'abcd?', 'a'] },
    {
      when: 'more than half are gone in two ways',
      texts: ['abcd', 'a', 'b', 'b'],
      count: ['abcd', 'abcd?', 'ab', 'b'],
    },
    {
      when: 'an error comes between two readings',
      texts: ['abcd', 'a', '!', 'a'],
      count: ['abcd', 'abcd?', 'abcd?', 'abcd?'],
    },
    {
      when: 'a good reading comes between two',
      texts: ['abcd', 'a', 'abcd', 'a'],
      count: ['abcd', 'abcd?', 'abcd', 'abcd?'],
    },
    { when: 'the first one fails', texts: ['!', 'ab'], count: ['none?', 'ab'] },
    { when: 'a new leader reads none and the owner map has some', texts: ['', ''], owned: 'abc', count: ['abc?', ''] },
    { when: 'a new group has none', texts: [''], count: [''] },
  ])('when $when', ({ texts, owned, count }) => {
    expect(readings(texts, owned)).toEqual(count);
  });

  it.each([
    { when: 'the owner map has more', mapped: 'dab', counts: 'abcd' },
    { when: 'the owner map has fewer', mapped: 'a', counts: 'abc' },
    { when: 'there is no owner map', mapped: '', counts: 'abc' },
  ])('of an earlier time take nothing from the owner map when $when', ({ mapped, counts }) => {
    const set = finish(withOwnerMap(setOf('bca'), [...mapped]));
    expect(set.ids.join('')).toBe(counts);
    expect(set.digest).toBe(setOf('abc').digest);
  });

  it('say how many are left and what happens next', () => {
    const state = finish(takeReading({ current: setOf('abcd') }, setOf('ax'), []));
    expect(state.problem).toBe(
      'resources: only 1 of 4 known resources are left, and all stay: the next reading must have as few, or confirm it: gatekeeper allocation <group> confirm',
    );
    expect(failReading({}, new Error('no database')).problem).toBe(
      'resources: they could not be read: no database. Nothing is allocated until then',
    );
  });

  it('that differ between nodes are a warning with both', () => {
    const set: MasterSet = setOf('abc');
    const nodes = [
      { node: 'app1', digest: set.digest },
      { node: 'app2', digest: setOf('ab').digest },
      { node: 'app3', digest: undefined },
    ];
    expect(differingSets(set, nodes)).toEqual([
      expect.stringMatching(
        /^resources: node "app2" reads other resources \("2-.*"\) than the leader \(3 resources, "3-/,
      ),
    ]);
  });
});
