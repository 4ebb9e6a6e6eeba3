import type { Chance } from '../world/chance.js';

/** The measures of one schedule, in ms of true time unless said otherwise. */
export interface Measures {
  /** Count of nodes. */
  readonly nodes: number;
  /** How long a permit lasts unless something else is asked for. */
  readonly duration: number;
  /** The longest that any permit may be asked for: longer ones come only from clocks that were set back. */
  readonly longest: number;
  /** Time in which faults come. */
  readonly horizon: number;
  /** Nodes start within this time. */
  readonly starts: number;
  /** Shortest and longest pause of a node between two actions. */
  readonly pauses: readonly [number, number];
  /** Most steps of the work under one permit. */
  readonly steps: number;
  /** The longest that a caller waits for a permit. */
  readonly patience: number;
  /** How long the nodes work on after the faults have ended. */
  readonly faultFree: number;
  /** Whether only some faults of the mix come, and these more often. */
  readonly isSwarm: boolean;
  /** Whether the cluster may have the record from the start. */
  readonly isOld: boolean;
  /** How likely a node that crashed comes back; surely where there is an aftermath. */
  readonly comebacks: number;
  /** Whether in the end everything works again, and every node must be able to get a permit. */
  readonly hasAftermath: boolean;
}

/** The shortest duration that may be asked for, in multiples of the tolerance. */
export const SHORTEST = 3.2;

/**
 * Long schedules let many faults meet over many leases. Short ones last a few leases, with a few of the faults, which
 * come the oftener (swarm testing): what breaks, breaks mostly by two or three events, and of these many more
 * combinations can be tried in the same time. Brief ones last one lease or two, and end in the middle of it all: for
 * the time they take, they find about half of the seeded bugs sooner, and the others later, two of them hardly ever.
 */
export const LENGTHS = {
  brief: briefMeasures,
  short: shortMeasures,
  long: longMeasures,
} satisfies Record<string, (tolerance: number, chance: Chance) => Measures>;

export type LengthName = keyof typeof LENGTHS;

function longMeasures(tolerance: number, chance: Chance): Measures {
  return {
    nodes: chance.whole(2, 4),
    duration: Math.round(chance.skewed(SHORTEST * tolerance, 10_000)),
    longest: 15_000,
    horizon: 40_000,
    starts: 3000,
    pauses: [20, 3000],
    steps: 4,
    patience: 6000,
    faultFree: 20_000,
    isSwarm: false,
    isOld: false,
    comebacks: 1,
    hasAftermath: true,
  };
}

function shortMeasures(tolerance: number, chance: Chance): Measures {
  const duration = Math.round(SHORTEST * tolerance * chance.skewed(1, 3));
  const horizon = chance.skewed(2, 5) * duration;
  return {
    nodes: chance.happens(0.8) ? 2 : 3,
    duration,
    longest: 2 * duration,
    horizon,
    starts: duration / 2,
    pauses: [20, horizon],
    steps: 2,
    patience: 2 * duration,
    faultFree: duration / 2,
    isSwarm: true,
    isOld: true,
    comebacks: 1,
    hasAftermath: true,
  };
}

function briefMeasures(tolerance: number, chance: Chance): Measures {
  const duration = Math.round(SHORTEST * tolerance * chance.skewed(1, 2));
  const horizon = chance.between(1.5, 2.2) * duration;
  return {
    nodes: 2,
    duration,
    longest: 1.2 * duration,
    horizon,
    starts: 0.15 * duration,
    pauses: [20, horizon],
    steps: 2,
    patience: 2 * duration,
    faultFree: 0,
    isSwarm: true,
    isOld: true,
    comebacks: 0.5,
    hasAftermath: false,
  };
}
