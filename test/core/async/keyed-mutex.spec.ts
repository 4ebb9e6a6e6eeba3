import { KeyedMutex } from '../../../lib/core/async/keyed-mutex.js';
import { FakeTime } from '../../support/fake-time.js';

/** ms; no turn of these tests takes so long, but where that is the point. */
const LONGEST = 1000;

function newMutex() {
  const time = new FakeTime();
  return { time, mutex: new KeyedMutex(time) };
}

describe('Callers of a keyed mutex', () => {
  it('take turns in the order in which they came', async () => {
    const { mutex, time } = newMutex();
    const turns: string[] = [];
    const unlocks = ['first', 'second', 'third'].map(async (name) => {
      const unlock = await mutex.lock('key', LONGEST);
      turns.push(name);
      return unlock;
    });
    await time.advance(1);
    expect(turns).toEqual(['first']);
    (await unlocks[0]!)();
    await time.advance(1);
    expect(turns).toEqual(['first', 'second']);
    (await unlocks[1]!)();
    await time.advance(1);
    expect(turns).toEqual(['first', 'second', 'third']);
  });

  it('do not wait for another key', async () => {
    const { mutex } = newMutex();
    await mutex.lock('key', LONGEST);
    const unlock = await mutex.lock('other', LONGEST);
    expect(unlock).toBeInstanceOf(Function);
  });

  it('get their turn when the one before took too long', async () => {
    const { mutex, time } = newMutex();
    await mutex.lock('key', LONGEST);
    let hasTurn = false;
    void mutex.lock('key', LONGEST).then(() => (hasTurn = true));
    await time.advance(LONGEST - 1);
    expect(hasTurn).toBe(false);
    await time.advance(1);
    expect(hasTurn).toBe(true);
  });

  it('end only their own turn, however late and often they do', async () => {
    const { mutex, time } = newMutex();
    const unlock = await mutex.lock('key', LONGEST);
    await time.advance(LONGEST);
    await mutex.lock('key', LONGEST);
    unlock();
    unlock();
    let hasTurn = false;
    void mutex.lock('key', LONGEST).then(() => (hasTurn = true));
    await time.advance(1);
    expect(hasTurn).toBe(false);
  });

  it('leave no timer behind', async () => {
    const { mutex, time } = newMutex();
    (await mutex.lock('key', LONGEST))();
    expect(time.pending).toBe(0);
  });
});
