import type { Sample } from '../../apps/soak/probe.js';

/** All that one process told of itself, from its start to its end. */
export interface Course {
  readonly node: string;
  readonly samples: readonly TimedSample[];
  /** Complaints of the process. */
  readonly faults: readonly string[];
  readonly ending: CourseEnding;
}

export interface TimedSample extends Sample {
  /** Minutes since the soak began. */
  readonly minute: number;
}

export interface CourseEnding {
  /** Still there before it was asked to close. */
  readonly wasRunning: boolean;
  /** Resources that were open after `close()`; undefined when it did not report them. */
  readonly left?: {
    readonly timers: Readonly<Record<string, number>>;
    readonly resources: Readonly<Record<string, number>>;
  };
  /** How it ended, and whether by itself. */
  readonly exitCode?: number;
  readonly signal?: string;
}

/**
 * The half that counts. In the first one code is compiled, connections are made, and each name is seen for the first
 * time.
 *
 * @param warmUp minutes that are left out at least
 */
export function settledHalf({ samples }: Course, warmUp: number): readonly TimedSample[] {
  const begin = Math.max((samples.at(-1)?.minute ?? 0) / 2, warmUp);
  return samples.filter(({ minute }) => minute >= begin);
}
