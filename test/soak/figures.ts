import type { Sample } from '../apps/soak/probe.js';

/** One thing that must not grow. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  /** The growth in a minute that may still be noise. */
  readonly allowed: number;
  read(sample: Sample): number;
}

/**
 * The work makes and ends more than 1,500 permits a minute in each process. A leak of the least that could be lost with
 * each of them (an entry of a Map, a closure, a promise: 64 bytes or more) makes about 100 kB; of a lease, 1 MB. What
 * is below may be noise of a ten-minute run. A longer run narrows the interval, not the bound.
 */
const NOISE_OF_MEMORY = 64;

/** A thing that is lost once a minute, or more often. */
const ONE = 1;

export const FIGURES: readonly Figure[] = [
  { name: 'heap', unit: 'kB', allowed: NOISE_OF_MEMORY, read: ({ heapUsed }) => heapUsed / 1000 },
  { name: 'external', unit: 'kB', allowed: NOISE_OF_MEMORY, read: ({ external }) => external / 1000 },
  { name: 'timers', unit: '', allowed: ONE, read: ({ timers }) => sum(timers) },
  { name: 'handles', unit: '', allowed: ONE, read: ({ resources }) => sum(resources) },
  { name: 'listeners', unit: '', allowed: ONE, read: ({ listeners }) => listeners },
  // Not a leak, but while names are added memory has to grow: a record is kept for each.
  { name: 'names', unit: '', allowed: ONE, read: ({ names }) => names },
];

export const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);
