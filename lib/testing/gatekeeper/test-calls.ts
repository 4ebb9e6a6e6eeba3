import type { AcquireWaitOptions, RunOptions, SkipReason } from '../../gatekeeper/index.js';
import type { DenialReason } from '../../core/decision/index.js';

/** Reasons for which a test can deny a permit. `unavailable` and `no-quorum` simulate an unreachable store. */
export type TestDenial = Exclude<DenialReason, 'corrupt-record' | 'newer-record' | 'permit-lost'>;

/** A call that asked a {@link TestGatekeeper} for a permit. */
export interface TestCall {
  /** The method that asked. */
  readonly method: 'run' | 'tryAcquire' | 'acquire';
  /** Name of the semaphore. */
  readonly semaphore: string;
  /** Name of the job of a run: "Jobs.export" for a guarded method, else the option `job`, else the semaphore's name. */
  readonly job?: string;
  /** Duration in ms that the call or its `@ClusterSingleton` gives; absent if neither does. */
  readonly duration?: number;
  /** The options of the call, without those that are undefined. */
  readonly options: RunOptions | AcquireWaitOptions;
  /** `granted`; `unguarded` if it ran without a permit because of `onUnavailable: 'run'`; else why it got no permit. */
  readonly outcome: 'granted' | 'unguarded' | SkipReason;
}

/** Which permits the test denies, and the calls that asked for permits. */
export class TestScript {
  readonly calls: TestCall[] = [];
  #denials = new Map<string, TestDenial | undefined>();
  #ofOthers: TestDenial | undefined;

  /** Returns the reason for which a semaphore is denied; undefined if it is granted. */
  denialOf(semaphore: string): TestDenial | undefined {
    return this.#denials.has(semaphore) ? this.#denials.get(semaphore) : this.#ofOthers;
  }

  set(semaphore: string, denial: TestDenial | undefined): void {
    this.#denials.set(semaphore, denial);
  }

  setAll(denial: TestDenial | undefined): void {
    this.#denials.clear();
    this.#ofOthers = denial;
  }

  reset(): void {
    this.calls.length = 0;
    this.setAll(undefined);
  }

  /** Records a call. @returns a function that replaces its outcome */
  note(call: TestCall): (outcome: TestCall['outcome']) => void {
    const { options, duration, job, ...rest } = call;
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    const noted = {
      ...rest,
      ...(job !== undefined && { job }),
      ...(duration !== undefined && { duration }),
      options: given,
    };
    this.calls.push(noted);
    return (outcome) => void (noted.outcome = outcome);
  }
}
