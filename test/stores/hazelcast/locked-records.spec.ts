import { type Client, type IMap, SplitBrainProtectionError } from 'hazelcast-client';
import { LockedRecords } from '../../../lib/stores/hazelcast/texts/locked-records.js';
import { NoQuorumError, StoreUnavailableError } from '../../../lib/core/store/store.errors.js';
import { eventually } from '../../contract/eventually.js';

/** ms: long, where the call is to succeed on a machine that is busy. */
const PATIENCE = 2000;
/** ms: short, where it is to give up. */
const CALL_TIMEOUT = 80;

/** A map with one entry, whose calls a test may answer otherwise; notes them in order. */
function fakeMap(
  answers: Partial<Record<'tryLock' | 'get' | 'replaceIfSame' | 'forceUnlock' | 'unlock', () => Promise<unknown>>>,
) {
  const calls: string[] = [];
  const call = (name: string, answer: () => Promise<unknown>) => () => {
    calls.push(name);
    return answer();
  };
  const map = {
    getName: () => 'map',
    tryLock: call('lock', answers.tryLock ?? (async () => true)),
    get: call('get', answers.get ?? (async () => 'before')),
    replaceIfSame: call('write', answers.replaceIfSame ?? (async () => true)),
    forceUnlock: call('force', answers.forceUnlock ?? (async () => undefined)),
    unlock: call('unlock', answers.unlock ?? (async () => undefined)),
  } as unknown as IMap<string, unknown>;
  return { calls, map };
}

/** Records of a client that nothing else uses, unless the test names one. */
function locked(
  map: IMap<string, unknown>,
  { callTimeout = PATIENCE, ended = new AbortController().signal, client = {} as Client } = {},
) {
  return new LockedRecords(map, client, { callTimeout, ended });
}

const never = () => new Promise<never>(() => undefined);
const fail = async () => {
  throw new Error('no');
};

describe('A compare-and-set under a lock', () => {
  it('locks, writes by a compare-and-set, and unlocks', async () => {
    const { map, calls } = fakeMap({});
    expect(await locked(map).compareAndSet('key', 'before', 'after')).toBe(true);
    expect(calls).toEqual(['lock', 'write', 'unlock']);
  });

  it('of one client never holds a lock in two flows', async () => {
    let holders = 0;
    let most = 0;
    const { map, calls } = fakeMap({
      replaceIfSame: async () => {
        most = Math.max(most, ++holders);
        await new Promise((resolve) => setImmediate(resolve));
        holders--;
        return true;
      },
    });
    const records = locked(map);
    await Promise.all(Array.from({ length: 5 }, () => records.compareAndSet('key', 'before', 'after')));
    await eventually('all are done', () => calls.filter((call) => call === 'unlock').length === 5);
    expect(most).toBe(1);
    expect(calls).toEqual(Array.from({ length: 5 }, () => ['lock', 'write', 'unlock']).flat());
  });

  it('does not wait for another key', async () => {
    const client = {} as Client;
    const { map } = fakeMap({ replaceIfSame: never });
    void locked(map, { client }).compareAndSet('key', 'before', 'after');
    const other = fakeMap({});
    expect(await locked(other.map, { client }).compareAndSet('other', 'before', 'after')).toBe(true);
  });

  it.each(['tryLock', 'replaceIfSame', 'unlock'] as const)(
    'waits only so long for a %s without an answer',
    async (hung) => {
      const asked = new Set<string>();
      const once = { [hung]: () => (asked.has(hung) ? Promise.resolve(true) : (asked.add(hung), never())) };
      const { map } = fakeMap(once);
      const records = locked(map, { callTimeout: CALL_TIMEOUT });
      void records.compareAndSet('key', 'before', 'after');
      // Its own time counts from when it asks: the first ones give up while they wait for their turn.
      const tries = async () => {
        for (;;) {
          const written = await records.compareAndSet('key', 'before', 'later').catch(() => false);
          if (written) return written;
        }
      };
      expect(await tries()).toBe(true);
    },
  );

  it('answers false without waiting when the record has changed meanwhile', async () => {
    const { map, calls } = fakeMap({ tryLock: async () => false, get: async () => 'of another' });
    expect(await locked(map).compareAndSet('key', 'before', 'after')).toBe(false);
    expect(calls).toEqual(['lock', 'get', 'unlock']);
  });

  it('takes by force what it was refused for too long', async () => {
    let isForced = false;
    const { map, calls } = fakeMap({
      tryLock: async () => isForced,
      forceUnlock: async () => void (isForced = true),
    });
    expect(await locked(map).compareAndSet('key', 'before', 'after')).toBe(true);
    expect(calls.slice(-4)).toEqual(['force', 'lock', 'write', 'unlock']);
  });

  it('was surely not written when the lock can not be taken', async () => {
    const { map, calls } = fakeMap({ tryLock: async () => false, forceUnlock: fail });
    await expect(locked(map, { callTimeout: CALL_TIMEOUT }).compareAndSet('key', 'before', 'after')).rejects.toThrow(
      'others hold it',
    );
    expect(calls).not.toContain('write');
  });

  it('says why the members refuse the lock', async () => {
    const { map } = fakeMap({ tryLock: fail, forceUnlock: fail });
    const error = await locked(map, { callTimeout: CALL_TIMEOUT })
      .compareAndSet('key', 'before', 'after')
      .catch((fault) => fault);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toMatchObject({ message: expect.stringContaining('(no)'), cause: { message: 'no' } });
  });

  it('is not written under a lock that came after the caller gave up, and gives it back', async () => {
    const late = () => new Promise((resolve) => setTimeout(resolve, CALL_TIMEOUT + 5, true));
    const { map, calls } = fakeMap({ tryLock: late });
    await expect(locked(map, { callTimeout: CALL_TIMEOUT }).compareAndSet('key', 'before', 'after')).rejects.toThrow(
      'nothing was written',
    );
    expect(calls).toEqual(['lock', 'unlock']);
  });

  it('asks the members for nothing when its turn comes too late', async () => {
    const { map, calls } = fakeMap({ replaceIfSame: never });
    const records = locked(map, { callTimeout: CALL_TIMEOUT });
    void records.compareAndSet('key', 'before', 'after');
    await expect(records.compareAndSet('key', 'before', 'later')).rejects.toThrow(StoreUnavailableError);
    expect(calls).toEqual(['lock', 'write']);
  });

  it('takes turns also with a callTimeout that no timer can count', async () => {
    const { map, calls } = fakeMap({ replaceIfSame: never });
    const records = locked(map, { callTimeout: 2 ** 31 });
    void records.compareAndSet('key', 'before', 'after');
    void records.compareAndSet('key', 'before', 'later');
    await new Promise((resolve) => setTimeout(resolve, CALL_TIMEOUT));
    expect(calls).toEqual(['lock', 'write']);
  });

  it('asks for the lock again when the answer was lost', async () => {
    let asked = 0;
    const { map, calls } = fakeMap({ tryLock: () => (asked++ === 0 ? fail() : Promise.resolve(true)) });
    expect(await locked(map).compareAndSet('key', 'before', 'after')).toBe(true);
    expect(calls).toEqual(['lock', 'get', 'lock', 'write', 'unlock']);
  });

  it('says at once that there is no quorum', async () => {
    const { map, calls } = fakeMap({ tryLock: () => Promise.reject(new SplitBrainProtectionError('x')) });
    await expect(locked(map).compareAndSet('key', 'before', 'after')).rejects.toThrow(NoQuorumError);
    expect(calls).toEqual(['lock', 'unlock']);
  });

  it('waits no longer when the store is closed', async () => {
    const ended = new AbortController();
    const { map, calls } = fakeMap({
      tryLock: async () => {
        ended.abort();
        return false;
      },
    });
    const writing = locked(map, { ended: ended.signal }).compareAndSet('key', 'before', 'after');
    await expect(writing).rejects.toThrow('the connection was lost');
    expect(calls).toEqual(['lock', 'get', 'unlock']);
  });
});
