import { randomUUID } from 'node:crypto';
import { interleaved, round } from './measure.mjs';

const TARGET = 1.2;
export const NAMES = ['bench-denied', 'bench-refresh', 'bench-grant', 'bench-release'];

/**
 * tryAcquire (refresh, grant, denial) and release against the raw client call of the same kind: a compare-and-set of
 * texts of the same length, or a get of the same text, on a key of its own.
 */
export async function sequential({ gatekeeper, other, raw }) {
  const semaphore = (name) => gatekeeper.semaphore(`bench-${name}`);
  await other.tryAcquire('bench-denied', { duration: '10m' });
  const get = raw.get(await raw.stored('bench-denied'));
  // This use keeps the permit, so that releasing the timed ones sends nothing.
  await semaphore('refresh').tryAcquire({ duration: '10m' });
  const held = (await raw.stored('bench-refresh')).length;
  // A record without a permit is shorter: grants replace the short text by the long one, releases the reverse.
  for (const name of ['grant', 'release']) await (await semaphore(name).tryAcquire({ duration: '10m' })).release();
  const free = (await raw.stored('bench-grant')).length;

  const refresh = await interleaved(timesAcquire(semaphore('refresh')), raw.compareAndSet(held, held), raw.afterWrite);
  const grant = await interleaved(timesAcquire(semaphore('grant')), raw.compareAndSet(free, held), raw.afterWrite);
  const release = await interleaved(timesRelease(semaphore('release')), raw.compareAndSet(held, free), raw.afterWrite);
  const denial = await interleaved(() => () => semaphore('denied').tryAcquire(), get, raw.afterRead);
  return [
    ...rows('refresh (tryAcquire of a held permit) / raw compare-and-set', refresh),
    ...rows('grant / raw compare-and-set', grant),
    ...rows('release / raw compare-and-set', release),
    ...rows('denial / raw get', denial),
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

function rows(name, { ours, reference }) {
  return ['p50', 'p99'].map((which) => row(`${name}, ${which}`, ours[which], reference[which]));
}

function row(name, ours, reference) {
  const ratio = ours / reference;
  const met = ratio <= TARGET;
  return { name, ours: round(ours), reference: round(reference), ratio: round(ratio), unit: 'µs', target: TARGET, met };
}

/** The raw client's calls, on a map of their own with the settings of the records' map. */
export function rawCalls(map, records) {
  return {
    /**
     * Resolves when the member has done all work that was sent before (the hint of a release, for example). A write comes
     * before writes and a read before reads, so that both sides' calls follow the same kind of call.
     */
    afterWrite: () => map.set('quiet', 'quiet'),
    afterRead: () => map.get('quiet'),
    stored: (name) => records.get(`semaphore:${name}`),
    /** Replaces a text of one length by a text of the other. Where the lengths differ, the first is written before the call. */
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
