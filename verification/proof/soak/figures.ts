import type { Sample } from '../../apps/soak/probe.js';

/** One thing that must not grow. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  /** The growth in a minute that may still be noise. */
  readonly allowed: number;
  /** Minutes from the start that say nothing of it, however short the soak is. */
  readonly warmUp: number;
  read(sample: Sample): number;
}

/**
 * The work makes and ends more than 1,000 permits a minute in each process. A leak of the least that could be lost with
 * each of them (an entry of a Map, a closure, a promise: 64 bytes or more) makes 64 kB; of a lease, 1 MB. What is below
 * may be noise of a ten-minute run. A longer run narrows the interval, not the bound.
 */
const NOISE_OF_MEMORY = 64;

/** A lost connection, with its buffers, is 76 kB: this is one of them in five minutes. */
const NOISE_OF_BUFFERS = 16;

/** Until then a process comes to know what it works with: it took 200 to 300 kB a minute after two minutes. */
const WARM_UP = 4;

/** A thing that is lost once a minute, or more often. */
const ONE = 1;

export const FIGURES: readonly Figure[] = [
  // Without compiled code: in an hour there was 1 MB more of it, most in the first half, and a little to the end.
  {
    name: 'heap',
    unit: 'kB',
    allowed: NOISE_OF_MEMORY,
    warmUp: WARM_UP,
    read: ({ heapUsed, compiled }) => (heapUsed - compiled) / 1000,
  },
  { name: 'external', unit: 'kB', allowed: NOISE_OF_BUFFERS, warmUp: WARM_UP, read: ({ external }) => external / 1000 },
  { name: 'timers', unit: '', allowed: ONE, warmUp: 0, read: ({ timers }) => sum(timers) },
  { name: 'handles', unit: '', allowed: ONE, warmUp: 0, read: ({ resources }) => sum(resources) },
  { name: 'listeners', unit: '', allowed: ONE, warmUp: 0, read: ({ listeners }) => listeners },
  // Not a leak, but while names are added memory has to grow: a record is kept for each.
  { name: 'names', unit: '', allowed: ONE, warmUp: 0, read: ({ names }) => names },
];

export const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);
