import type { FaultMixName } from '../simulation/kind/fault-mix.js';

/** One change of a source: `find` stands there exactly once. */
export interface Patch {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** The layer of tests that must find a bug. */
export type Layer =
  | {
      readonly kind: 'simulation';
      readonly faultMix: FaultMixName;
      /** How many schedules may go by before it is found. */
      readonly within: number;
      /** What the checker must say. */
      readonly says: RegExp;
    }
  | {
      readonly kind: 'specs';
      /** What people call the layer. */
      readonly title: string;
      /** Paths of specs of which at least one test must fail. */
      readonly specs: readonly string[];
    };

/** A mistake that somebody might make, put in on purpose to see that the tests find it. */
export interface Bug {
  readonly name: string;
  /** What somebody who makes it might think, and what comes of it. */
  readonly why: string;
  readonly patches: readonly Patch[];
  readonly layer: Layer;
}
