import { systemClock } from '../../../lib/core/async/node-clock.js';
import { memory } from '../../../lib/stores/memory/index.js';
import { ObservedStore } from '../../../lib/core/store/observed-store.js';
import { StoreUnavailableError, UnknownOutcomeError } from '../../../lib/core/store/store.errors.js';
import { ScriptedStore } from '../../support/scripted-store.js';

/** A store of which every write loses its answer when `lose` is called, at a time that the test sets. */
function opened() {
  const inner = new ScriptedStore(memory().open());
  const clock = { ...systemClock, at: 0, monotonic: () => clock.at };
  const lost: (() => void)[] = [];
  inner.script = () =>
    new Promise<never>((_, reject) => lost.push(() => reject(new UnknownOutcomeError('no answer within 1 s'))));
  const store = new ObservedStore(() => inner, clock);
  const write = (at: number) => {
    clock.at = at;
    return store.compareAndSet('key', undefined, 'text').catch((error: unknown) => error);
  };
  const lose = async (at: number, writes: readonly Promise<unknown>[]) => {
    clock.at = at;
    for (const loseOne of lost.splice(0)) loseOne();
    await Promise.all(writes);
  };
  return { inner, store, clock, write, lose };
}

describe('Failed calls', () => {
  it('that are lost together count once', async () => {
    const { store, write, lose } = opened();
    await lose(3000, [write(0), write(1000), write(2999)]);
    expect(store.calls('writes').failing).toMatchObject({ since: 0, firstAt: 3000, lastAt: 3000, isRepeated: false });
  });

  it('count as repeated if one began after the first had failed, even while others end', async () => {
    const { store, write, lose } = opened();
    await lose(1000, [write(0)]);
    const later = [write(1000), write(1500)];
    await lose(2500, later);
    expect(store.calls('writes').failing).toMatchObject({ since: 0, firstAt: 1000, lastAt: 2500, isRepeated: true });
    await lose(3500, [write(2000)]);
    expect(store.calls('writes').failing).toMatchObject({ since: 0, lastAt: 3500, isRepeated: true });
  });

  it('of lists stay while single records are read, also by a clock that never shows one time twice', async () => {
    const { inner, store, clock } = opened();
    clock.monotonic = () => clock.at++;
    inner.script = (call, go) => (call === 'list' ? Promise.reject(new StoreUnavailableError('refused')) : go());
    await expect(store.list('nodes:')).rejects.toThrow('refused');
    await store.read('key');
    expect(store.calls('nodes').failing?.error.message).toBe('refused');
  });

  it.each([
    ['stay while reads are answered in another order than they were asked', 1, 'refused'],
    ['are forgotten when a read is answered after another one hung for a second', 1000, undefined],
  ])('of lists %s', async (_when, later, left) => {
    const { inner, store, clock } = opened();
    const answers: (() => void)[] = [];
    inner.script = (call) =>
      call === 'list'
        ? Promise.reject(new StoreUnavailableError('refused'))
        : new Promise((resolve) => answers.push(() => resolve('text')));
    await expect(store.list('nodes:')).rejects.toThrow('refused');
    const first = store.read('key');
    clock.at += later;
    const second = store.read('other key');
    answers[1]!();
    await second;
    expect(store.calls('nodes').failing?.error.message).toBe(left);
    answers[0]!();
    await first;
  });

  it('are forgotten with the first answer', async () => {
    const { inner, store, write, lose } = opened();
    await lose(1000, [write(0)]);
    await lose(2000, [write(1000)]);
    inner.script = undefined;
    await write(2000);
    expect(store.calls('writes')).toMatchObject({ failing: undefined, answeredAt: 2000 });
  });
});
