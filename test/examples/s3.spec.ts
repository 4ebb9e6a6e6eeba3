import fc from 'fast-check';
import { StaleTokenError } from '../../examples/guarded-resource/permit-token.js';
import { putFenced } from '../../examples/guarded-resource/s3/fenced-object.js';
import { ObjectStore } from './object-store.js';
import { EARLIER, LATER, gate } from './permits.js';

describe('an object written on condition', () => {
  let store: ObjectStore;
  beforeEach(async () => void (store = await ObjectStore.start()));
  afterEach(() => store[Symbol.asyncDispose]());

  it('is written with a fresh token, and again with the same one', async () => {
    await putFenced(store.url('slot-0/report'), 'draft', EARLIER);
    await putFenced(store.url('slot-0/report'), 'final', EARLIER);
    await putFenced(store.url('slot-0/report'), 'new', LATER);

    expect(store.bodyOf('slot-0/report')).toBe('new');
  });

  it('is not written with a stale token', async () => {
    await putFenced(store.url('slot-0/report'), 'new', LATER);

    await expect(putFenced(store.url('slot-0/report'), 'old', EARLIER)).rejects.toThrow(StaleTokenError);
    expect(store.bodyOf('slot-0/report')).toBe('new');
  });

  it.each(['the first version', 'a later version'])(
    'is not written by a stale writer that another overtook between check and put: %s',
    async (version) => {
      if (version === 'a later version') await putFenced(store.url('slot-0/report'), 'draft', EARLIER);
      const { reached, pass, open } = gate();
      store.beforePut = async (body) => (body === 'old' ? pass() : undefined);
      const old = putFenced(store.url('slot-0/report'), 'old', EARLIER);
      await reached;
      await putFenced(store.url('slot-0/report'), 'new', LATER);
      open();

      await expect(old).rejects.toThrow(StaleTokenError);
      expect(store.bodyOf('slot-0/report')).toBe('new');
      expect(store.conflicts).toBe(1);
    },
  );

  it('is written by a newer writer that a stale one overtook', async () => {
    const { reached, pass, open } = gate();
    let isFirst = true;
    store.beforePut = async (body) => {
      const isHeldUp = body === 'new' && isFirst;
      if (isHeldUp) isFirst = false;
      return isHeldUp ? pass() : undefined;
    };
    const young = putFenced(store.url('slot-0/report'), 'new', LATER);
    await reached;
    await putFenced(store.url('slot-0/report'), 'old', EARLIER);
    open();
    await young;

    expect(store.writes.map(({ body }) => body)).toEqual(['old', 'new']);
  });

  it('is written anew when it was deleted between check and put', async () => {
    await putFenced(store.url('slot-0/report'), 'draft', EARLIER);
    const { reached, pass, open } = gate();
    store.beforePut = pass;
    const writing = putFenced(store.url('slot-0/report'), 'final', EARLIER);
    await reached;
    store.delete('slot-0/report');
    open();
    await writing;

    expect(store.bodyOf('slot-0/report')).toBe('final');
  });

  it('asks nothing of the tokens of other slots', async () => {
    await putFenced(store.url('slot-1/report'), 'new', { ...LATER, slot: 1 });
    await putFenced(store.url('slot-0/report'), 'old', EARLIER);

    expect(store.bodyOf('slot-0/report')).toBe('old');
  });

  it('never goes back, however many writers race', async () => {
    const tokens = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 10 });
    let races = 0;
    await fc.assert(
      fc.asyncProperty(tokens, async (tokens) => {
        const path = `slot-0/race-${races++}`;
        const puts = tokens.map((token) => putFenced(store.url(path), `by ${token}`, { ...EARLIER, token }));
        const outcomes = await Promise.allSettled(puts);

        const applied = store.writes.filter((write) => write.path === path).map(({ token }) => token);
        expect(applied).toEqual(applied.toSorted((one, other) => one - other));
        expect(store.bodyOf(path)).toBe(`by ${Math.max(...tokens)}`);
        const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
        expect(refused.every(({ reason }) => reason instanceof StaleTokenError)).toBe(true);
        expect(applied).toHaveLength(tokens.length - refused.length);
      }),
      { numRuns: 30 },
    );
    expect(store.conflicts).toBeGreaterThan(0);
  });
});
