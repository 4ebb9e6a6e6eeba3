import type { AcquireWaitOptions, RunOptions, SkipReason } from '../../gatekeeper/index.js';
import type { DenialReason } from '../../decision/index.js';

/** Reasons for which a test may deny a permit. `unavailable` and `no-quorum` simulate an unreachable store. */
export type TestDenial = Exclude<DenialReason, 'corrupt-record' | 'newer-record' | 'permit-lost'>;

/** A call that asked a {@link TestGatekeeper} for a permit. */
export interface TestCall {
  /** The method that asked. */
  readonly method: 'run' | 'tryAcquire' | 'acquire';
  /** Name of the semaphore. */
  readonly semaphore: string;
  /** Of a run: "Jobs.export" for a guarded method, else the option `job` or the semaphore's name. */
  readonly job?: string;
  /** ms: of the call, or of the `@ClusterSingleton` that made it; absent where neither gives one. */
  readonly duration?: number;
  /** Options as given, without undefined ones. */
  readonly options: RunOptions | AcquireWaitOptions;
  /** `unguarded`: `onUnavailable: 'run'` let it run without a permit. */
  readonly outcome: 'granted' | 'unguarded' | SkipReason;
}

/** Settings of the test for permits, and the calls that asked for permits. */
export class TestScript {
  readonly calls: TestCall[] = [];
  #denials = new Map<string, TestDenial | undefined>();
  #ofOthers: TestDenial | undefined;

  /** The reason for which a semaphore is denied; undefined: it is granted. */
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

  /** @returns a function that corrects the outcome */
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
