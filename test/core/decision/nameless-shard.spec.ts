import { EMPTY_SHARD, ShardNames, decodeShard } from '../../../lib/core/decision/index.js';
import { START } from './worlds.js';

const LATEST = 253_402_300_799_999;
const COUNTS = [0, -0, 7, -1, 0.5, 1e15, 1e30, LATEST, LATEST + 1, 2 ** 53 - 1, 2 ** 53];
const VALUES = [...COUNTS, 'a b', '', 'ü', '"', '\\', null, [], undefined];

const GRACE = { id: 'g', expiresAt: START, duration: 1 };
const SHARD = { ...EMPTY_SHARD, nonce: 'n', seq: 7, at: START, birth: 'b1', names: [], claims: [] };

/** The shard, or the name of the error. */
function outcomeOf(text: string): unknown {
  try {
    return decodeShard('7', text);
  } catch (error) {
    return (error as Error).name;
  }
}

describe('the text of a shard without names, which is read without the schema', () => {
  it.each([['no grace', SHARD] as const, ['a grace', { ...SHARD, grace: GRACE }] as const])(
    'is read as by the schema, with %s',
    (_, shard) => {
      const text = JSON.stringify(shard);
      expect(outcomeOf(text)).toEqual({ ...shard, names: ShardNames.NONE, claims: new Map() });
      // No version writes the space, so the schema reads it.
      expect(outcomeOf(`${text} `)).toEqual(outcomeOf(text));
    },
  );

  it.each(['v', 'nonce', 'seq', 'at', 'birth', 'lastToken', 'revision', 'more'])(
    'is read or refused as by the schema, whatever its %s is',
    (field) => {
      for (const value of VALUES) expectAsBySchema(value, { ...SHARD, [field]: value });
    },
  );

  it.each(['id', 'expiresAt', 'duration', 'more'])(
    'is read or refused as by the schema, whatever the %s of its grace is',
    (field) => {
      for (const value of VALUES) expectAsBySchema(value, { ...SHARD, grace: { ...GRACE, [field]: value } });
    },
  );

  function expectAsBySchema(value: unknown, shard: object): void {
    const text = JSON.stringify(shard);
    expect([value, outcomeOf(text)]).toEqual([value, outcomeOf(`${text} `)]);
  }
});
