import { randomUUID } from 'node:crypto';
import { interleaved, round } from './measure.mjs';

const TARGET = 1.2;

/**
 * tryAcquire (refresh, grant, denial) and release against the raw client call of the same kind: a compare-and-set of
 * texts of the same length, or a get of the same text, on a key of its own.
 */
export async function sequential({ gatekeeper, other, raw }) {
  const semaphore = (name) => gatekeeper.semaphore(`bench-${name}`);
  await other.tryAcquire('bench-denied', { duration: '10m' });
  const get = raw.get(await raw.stored('bench-denied'));
  // One use keeps the permit: giving the timed ones back is then a matter of this process.
  await semaphore('refresh').tryAcquire({ duration: '10m' });
  const held = (await raw.stored('bench-refresh')).length;
  // A record without a permit is shorter: grants write the long text over the short one, releases the other way round.
  for (const name of ['grant', 'release']) await (await semaphore(name).tryAcquire({ duration: '10m' })).release();
  const free = (await raw.stored('bench-grant')).length;

  const refresh = await interleaved(timesAcquire(semaphore('refresh')), raw.compareAndSet(held, held), raw.afterWrite);
  const grant = await interleaved(timesAcquire(semaphore('grant')), raw.compareAndSet(free, held), raw.afterWrite);
  const release = await interleaved(timesRelease(semaphore('release')), raw.compareAndSet(held, free), raw.afterWrite);
  const denial = await interleaved(() => () => semaphore('denied').tryAcquire(), get, raw.afterRead);
  return [
    row('refresh (tryAcquire of a held permit) / raw compare-and-set', refresh),
    row('grant / raw compare-and-set', grant),
    row('release / raw compare-and-set', release),
    row('denial / raw get', denial),
  ];
}

function timesAcquire(semaphore) {
  let last;
  return async () => {
    await last?.release();
    return async () => (last = await semaphore.tryAcquire());
  };
}

function timesRelease(semaphore) {
  return async () => {
    const permit = await semaphore.tryAcquire();
    return () => permit.release();
  };
}

export function row(name, { ours, reference }, target = TARGET, isMet = (ratio) => ratio <= target, unit = 'µs') {
  const ratio = ours / reference;
  return { name, ours: round(ours), reference: round(reference), ratio: round(ratio), unit, target, met: isMet(ratio) };
}

/** The raw client's calls, on a map of their own with the same settings. */
export function rawCalls(map, records) {
  return {
    /**
     * Answers when the member has done all that was sent before (a hint that a release sent along, say). A write before
     * writes and a read before reads, so that both sides' calls follow the same kind of call.
     */
    afterWrite: () => map.set('quiet', 'quiet'),
    afterRead: () => map.get('quiet'),
    stored: (name) => records.get(`semaphore:${name}`),
    /** From a text of one length to a text of the other, put there before where it can't be what stands there already. */
    compareAndSet(from, to) {
      const key = randomUUID();
      let stored;
      return async (count) => {
        const [current, next] = [stored ?? textOf(from, `${count}-`), textOf(to, `${count}+`)];
        if (current !== stored) await map.set(key, current);
        stored = from === to ? next : undefined;
        return async () => {
          if (!(await map.replaceIfSame(key, current, next))) throw new Error('the raw compare-and-set was refused');
        };
      };
    },
    get(text) {
      const key = randomUUID();
      const stored = map.set(key, text);
      return async () => {
        await stored;
        return () => map.get(key);
      };
    },
  };
}

export const textOf = (length, number) => String(number).padEnd(length, 'x');
