import { Subject } from 'rxjs';
import {
  AcquireTimeoutError,
  type AcquireOptions,
  type AcquireWaitOptions,
  type DeclaredDefinitions,
  type GatekeeperEvent,
  type LossReason,
  type NodeIdentity,
  type Permit,
  PermitMethods,
  type RunOptions,
  type RunPermit,
  type RunResult,
  RunSkippedError,
  Runner,
  type Semaphore,
  parseAcquireOptions,
  parseRunOptions,
  parseWaitOptions,
} from '../../gatekeeper/index.js';
import type { TestCall, TestScript } from './test-calls.js';
import { STOPPED_CLOCK, TestLeases } from './test-leases.js';

/** A semaphore of a {@link TestGatekeeper}. It has the methods and errors of a real one, but no record. */
export class TestSemaphore extends PermitMethods implements Semaphore {
  readonly heldLeases: TestLeases;
  readonly #runner: Runner;

  constructor(
    readonly name: string,
    node: NodeIdentity,
    private readonly script: TestScript,
    private readonly declared: DeclaredDefinitions,
    readonly explain: Semaphore['explain'],
  ) {
    super();
    this.heldLeases = new TestLeases(name, node, () => script.denialOf(name));
    const context = { events: new Subject<GatekeeperEvent>(), nodeClock: STOPPED_CLOCK };
    this.#runner = new Runner(name, this.heldLeases, context);
  }

  async tryAcquire(options: AcquireOptions = {}): Promise<Permit | undefined> {
    const parsed = parseAcquireOptions(this.name, options);
    await this.#note({ method: 'tryAcquire', options, asked: parsed.duration });
    const attempt = await this.heldLeases.attempt(parsed);
    if (!attempt.permit && attempt.error) throw attempt.error;
    return attempt.permit;
  }

  async acquire(options: AcquireWaitOptions = {}): Promise<Permit> {
    const parsed = parseWaitOptions(this.name, options);
    await this.#note({ method: 'acquire', options, asked: parsed.duration });
    parsed.signal?.throwIfAborted();
    const attempt = await this.heldLeases.attempt(parsed);
    if (attempt.permit) return attempt.permit;
    throw new AcquireTimeoutError(this.name, parsed.timeout, attempt.reason, { cause: attempt.error });
  }

  async run<T>(work: (permit: RunPermit) => T | Promise<T>, options: RunOptions = {}): Promise<RunResult<T>> {
    const parsed = parseRunOptions(this.name, options);
    const correct = await this.#note({ method: 'run', options, asked: parsed.duration, job: parsed.job });
    // Options about time have no effect: a permit ends with its run or on command, and no call waits.
    const retry = parsed.retry && { ...parsed.retry, backoff: { first: 0, longest: 0, jitter: 0 } };
    const settings = { ...parsed, atLeastFor: 0, maxRunTime: undefined, wait: undefined, retry };
    let hasBegun = false;
    const noted = (permit: RunPermit) => {
      hasBegun = true;
      correct(permit.isGuarded ? 'granted' : 'unguarded');
      return work(permit);
    };
    const result = await this.#runner.run(noted, settings).catch((error: unknown) => {
      // After the begin, the error is about a nested run, not about this one.
      if (error instanceof RunSkippedError && !hasBegun) correct(error.reason);
      throw error;
    });
    if (!result.executed) correct(result.reason);
    return result;
  }

  /** Ends all held permits. @returns how many they were */
  lose(reason: LossReason): number {
    return this.heldLeases.lose(reason);
  }

  /** @throws InvalidOptionsError for a duration that is too short to be used */
  async #note({ asked, ...call }: Pick<TestCall, 'method' | 'options' | 'job'> & { readonly asked?: number }) {
    await this.declared.ensure(this.name, asked);
    const duration = asked ?? this.declared.get(this.name)?.duration;
    const outcome = this.script.denialOf(this.name) ?? 'granted';
    return this.script.note({ ...call, semaphore: this.name, duration, outcome });
  }
}
