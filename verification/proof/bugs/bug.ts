import type { Fault } from '../../../test/simulation/allocation/faults.js';
import type { KindName } from '../../../test/simulation/kind/schedule-kind.js';
import type { TaskFaultKind } from '../../../test/simulation/tasks/tasks-scene.js';
import type { FaultMixName } from '../../../test/simulation/kind/fault-mix.js';

/** One change of a source file, in which `find` occurs exactly once. */
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
      /** With membership leases as short as those of permits. */
      readonly members?: true;
      /** The bug must be found within this many schedules. */
      readonly within: number;
      /** Matches the violation that the checker must report. */
      readonly says: RegExp;
    }
  | {
      /** The simulation of another kind. */
      readonly kind: KindName;
      readonly faults: readonly (Fault | TaskFaultKind)[];
      /** As above. */
      readonly within: number;
      readonly says: RegExp;
    }
  | {
      readonly kind: 'specs';
      /** Name of the layer for people. */
      readonly title: string;
      /** Paths of specs; at least one of their tests must fail. */
      readonly specs: readonly string[];
    };

/** A plausible mistake, put in on purpose to see that the tests find it. */
export interface Bug {
  readonly name: string;
  /** The mistake and its consequence. */
  readonly why: string;
  readonly patches: readonly Patch[];
  readonly layer: Layer;
}
