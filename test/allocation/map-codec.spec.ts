import { NewerRecordError } from '../../lib/core/decision/index.js';
import {
  decodeAllocationRoot,
  decodeLimboPage,
  decodeOwnedPage,
  encodeAllocationRoot,
  encodePage,
} from '../../lib/allocation/map/map.codec.js';
import { freeSlots, limboPages, ownedPages, pageKey, slotOf } from '../../lib/allocation/map/page.js';
import { finish } from './divisions.js';
import { aPage, aRoot } from './maps.js';

const root = aRoot({
  members: new Map([
    ['__proto__', ['p1', 'p2']],
    ['b#0', []],
  ]),
  limbo: ['p3'],
  lost: [{ from: 'b#0', seq: 6 }],
  grace: true,
});

describe('the texts of an owner map', () => {
  it('are read as they were written', () => {
    expect(decodeAllocationRoot('queues', encodeAllocationRoot(root))).toEqual(root);
    const owned = aPage('ab');
    expect(decodeOwnedPage('p1', encodePage('p1', owned))).toEqual(owned);
    const limbo = { v: 1, limbo: [['b#0', 6, ['ü"\\', '\ud800']]] } as const;
    expect(decodeLimboPage('p3', encodePage('p3', limbo))).toEqual(limbo);
  });

  it.each([
    { fault: 'it is not JSON', change: () => '{' },
    { fault: 'seq', change: () => encodeAllocationRoot({ ...root, seq: -1 }) },
    { fault: 'has a member twice', change: () => encodeAllocationRoot(root).replace('"b#0",[]', '"__proto__",[]') },
    { fault: 'has one page in two places', change: () => encodeAllocationRoot({ ...root, limbo: ['p1'] }) },
    { fault: 'surprise', change: () => encodeAllocationRoot({ ...root, surprise: 1 } as typeof root) },
    { fault: 'it has 2097200 characters', change: () => 'x'.repeat(2_097_200) },
  ])('are refused when $fault', ({ fault, change }) => {
    const reading = () => decodeAllocationRoot('queues', change());
    expect(reading).toThrow(fault);
    expect(reading).toThrow('the owner map of allocation group "queues" can\'t be read');
  });

  it('of a newer version are refused', () => {
    const text = encodeAllocationRoot(root).replace('"v":1', '"v":2');
    expect(() => decodeAllocationRoot('queues', text)).toThrow(NewerRecordError);
  });

  it.each([
    { fault: 'has an id twice', text: '{"id":"p1","v":1,"owned":[[1,["a"]],[2,["a"]]]}' },
    { fault: 'owned.0.1.0', text: '{"id":"p1","v":1,"owned":[[1,[""]]]}' },
    { fault: 'owned.0.1.0', text: `{"id":"p1","v":1,"owned":[[1,["${'x'.repeat(501)}"]]]}` },
    {
      fault: 'owned.0.1',
      text: JSON.stringify({ id: 'p1', v: 1, owned: [[1, Array.from({ length: 1001 }, (_, id) => `r${id}`)]] }),
    },
    { fault: 'owned', text: '{"id":"p1","v":1,"limbo":[]}' },
  ])('of a page are refused: $fault', ({ fault, text }) => {
    expect(() => decodeOwnedPage('p1', text)).toThrow(fault);
  });
});

describe('pages', () => {
  const ids = (count: number, length = 5) =>
    Array.from({ length: count }, (_, index) => String(index).padStart(length, '0'));

  it('have at most 1,000 resources, and few enough characters to be read quickly', () => {
    const sizes = (items: readonly string[]) =>
      finish(ownedPages(items.map((id) => [id, 1] as const))).map(({ owned }) => owned[0]![1].length);
    expect(sizes(ids(2500))).toEqual([1000, 1000, 500]);
    expect(sizes(ids(1000, 500))).toEqual([524, 476]);
    expect(sizes([])).toEqual([]);
  });

  it('of the limbo keep from which node and since which root', () => {
    const items = [
      ['a', { from: 'n#0', seq: 3 }],
      ['b', { from: 'n#1', seq: 3 }],
      ['c', { from: 'n#0', seq: 3 }],
    ] as const;
    expect(finish(limboPages(items))).toEqual([
      {
        v: 1,
        limbo: [
          ['n#0', 3, ['a', 'c']],
          ['n#1', 3, ['b']],
        ],
      },
    ]);
  });

  it('of an attempt get slots that the root does not use, the lowest first', () => {
    const slots = freeSlots(aRoot({ members: new Map([['a#0', ['0/n', '3/n']]]), limbo: ['1/m'] }));
    expect([slots.next().value, slots.next().value, slots.next().value]).toEqual([2, 4, 5]);
    expect(slotOf(pageKey(12, 'n1'))).toBe(12);
  });

  it('are missing when another page has overwritten their slot', () => {
    expect(decodeOwnedPage('4/n1', encodePage('4/n2', aPage('a')))).toBeUndefined();
  });
});
