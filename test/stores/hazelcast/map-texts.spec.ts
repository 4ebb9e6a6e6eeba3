import { MapTexts, type TextMap } from '../../../lib/stores/hazelcast/texts/map-texts.js';

const UNREADABLE = Symbol('a value that the client can not read');

function unreadable(): never {
  throw new RangeError('There is no suitable de-serializer for type -200');
}

/** A map that holds what other programs put there, too. */
function mapOf(entries: Readonly<Record<string, unknown>>) {
  const values = new Map(Object.entries(entries));
  const valueOf = (key: string) => (values.get(key) === UNREADABLE ? unreadable() : (values.get(key) ?? null));
  const change = (key: string, expected: unknown, apply: () => void) => {
    const isSame = values.get(key) === expected;
    if (isSame) apply();
    return isSame;
  };
  const map = {
    get: async (key: string) => valueOf(key),
    getAll: async (keys: string[]) => keys.map((key) => [key, valueOf(key)]),
    containsKey: async (key: string) => values.has(key),
    putIfAbsent: async (key: string, next: string) => {
      const found = valueOf(key);
      if (found === null) values.set(key, next);
      return found;
    },
    replaceIfSame: async (key: string, expected: string, next: string) =>
      change(key, expected, () => values.set(key, next)),
    remove: async (key: string, expected: string) => change(key, expected, () => values.delete(key)),
  };
  return { values, texts: new MapTexts(map as unknown as TextMap) };
}

describe('Texts in a map', () => {
  it.each<[string, string | undefined, string | undefined, boolean, unknown]>([
    ['is written where there is none', undefined, 'next', false, 'before'],
    ['is written over the expected one', 'before', 'next', true, 'next'],
    ['is not written over another one', 'other', 'next', false, 'before'],
    ['is removed if it is the expected one', 'before', undefined, true, undefined],
    ['is not removed if it is another one', 'other', undefined, false, 'before'],
    ['is not absent', undefined, undefined, false, 'before'],
  ])('compare before they change: one %s', async (_what, expected, next, answer, left) => {
    const { values, texts } = mapOf({ key: 'before' });
    expect(await texts.compareAndSet('key', expected, next)).toBe(answer);
    expect(values.get('key')).toBe(left);
  });

  it('are written and removed under a new key as if there was none', async () => {
    const { values, texts } = mapOf({});
    expect(await texts.compareAndSet('key', undefined, undefined)).toBe(true);
    expect(await texts.compareAndSet('key', 'before', undefined)).toBe(false);
    expect(await texts.compareAndSet('key', undefined, 'next')).toBe(true);
    expect(values.get('key')).toBe('next');
  });

  it('are not written over a value that the client can not read, which is a certain answer', async () => {
    const { texts } = mapOf({ key: UNREADABLE });
    expect(await texts.compareAndSet('key', undefined, 'next')).toBe(false);
  });

  it('are read beside values of other programs', async () => {
    const { texts } = mapOf({ good: 'text', number: 5, unreadable: UNREADABLE });
    const found = await texts.readMany(['good', 'number', 'unreadable', 'absent']);
    expect([...found.keys()]).toEqual(['good', 'number', 'unreadable']);
    expect(found.get('good')).toBe('text');
    for (const key of ['number', 'unreadable']) expect(found.get(key)).toMatch(/^not a record: /);
    expect(await texts.read('unreadable')).toBe(found.get('unreadable'));
  });
});
