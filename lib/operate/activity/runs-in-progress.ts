import type { GatekeeperEvent } from '../../core/context/events.js';
import type { PermitLoss } from './history-answers.js';
import type { CancelTimer, NodeClock } from '../../core/async/node-clock.js';

/** ms after which a run counts as long. */
export const LONG = 2000;

type Started = Extract<GatekeeperEvent, { type: 'run-started' }>;

/** A run of this node that goes on. */
export interface RunInProgress {
  readonly event: Started;
  /** Cluster time of its start, ms since the epoch. */
  readonly at: number;
  /** Monotonic ms of its start. */
  readonly since: number;
  /** How its permit ended; absent while it is held. */
  loss?: PermitLoss;
  /** Number of times that its permit was renewed. */
  renewals: number;
  /** Whether its start was noted. */
  isNoted: boolean;
}

/** The runs of this node that go on. All of them share one timer, which finds those that have become long. */
export class RunsInProgress {
  /** By {@link runKey}; the oldest first. */
  readonly #runs = new Map<string, RunInProgress>();
  /** The same runs by the id of their permit: each renewal of a permit looks here. */
  readonly #byPermit = new Map<string, Set<RunInProgress>>();
  #cancelTimer?: CancelTimer;

  /**
   * @param noteStart called for each run that has become long, and for each one that loses its permit; returns whether it
   *   has noted the start
   */
  constructor(
    private readonly nodeClock: NodeClock,
    private readonly noteStart: (run: RunInProgress) => boolean,
  ) {}

  start(event: Started, at: number): void {
    const run = { event, at, since: this.nodeClock.monotonic(), renewals: 0, isNoted: false };
    this.#runs.set(runKey(event), run);
    if (event.permit) this.#byPermit.set(event.permit.id, this.#under(event.permit.id).add(run));
    this.#cancelTimer ??= this.#checkIn(LONG);
  }

  /** Notes the loss of a permit with the start of each run under it: the run may never end. */
  lose(permitId: string, loss: PermitLoss): void {
    for (const run of this.#under(permitId)) {
      if (run.loss) continue;
      run.loss = loss;
      run.isNoted = this.noteStart(run);
    }
  }

  renew(permitId: string): void {
    for (const run of this.#under(permitId)) run.renewals++;
  }

  /** Forgets a run that has ended. @returns undefined if its start was not seen */
  end(event: { readonly semaphore: string; readonly run: number }): RunInProgress | undefined {
    const run = this.#runs.get(runKey(event));
    this.#runs.delete(runKey(event));
    const permit = run?.event.permit;
    if (!permit) return run;
    const others = this.#under(permit.id);
    others.delete(run);
    if (others.size === 0) this.#byPermit.delete(permit.id);
    return run;
  }

  close(): void {
    this.#cancelTimer?.();
  }

  #under(permitId: string): Set<RunInProgress> {
    return this.#byPermit.get(permitId) ?? new Set();
  }

  #checkIn(delay: number): CancelTimer {
    return this.nodeClock.schedule(() => this.#check(), delay);
  }

  #check(): void {
    this.#cancelTimer = undefined;
    for (const run of this.#runs.values()) {
      const left = run.since + LONG - this.nodeClock.monotonic();
      if (left > 0) {
        this.#cancelTimer = this.#checkIn(left);
        return;
      }
      run.isNoted ||= this.noteStart(run);
    }
  }
}

function runKey(event: { readonly semaphore: string; readonly run: number }): string {
  return `${event.semaphore}\n${event.run}`;
}
