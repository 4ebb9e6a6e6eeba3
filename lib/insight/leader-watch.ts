import { Periodic } from '../async/periodic.js';
import type { Context } from '../context/context.js';
import type { Candidate, Cluster } from '../leadership/index.js';
import { scopeStatus } from './scope-status.js';

/** ms, besides lease and `clockTolerance`, after which a scope without a leader is an alarm. */
const PATIENCE = 5000;
/** ms between two looks. */
const INTERVAL = 1000;

/** A scope that has had no leader for too long. */
interface LeadershipFault {
  /** In the node's monotonic ms. */
  readonly since: number;
  readonly sentence: string;
}

/** Raises an alarm, once each time, if a scope in which this node takes part has had no leader for too long. */
export class LeaderWatch {
  readonly #seenAt = new Map<Candidate, number>();
  readonly #faults = new Map<Candidate, LeadershipFault>();
  readonly #periodic: Periodic;

  constructor(
    private readonly cluster: Pick<Cluster, 'candidates' | 'lease'>,
    private readonly context: Context,
  ) {
    this.#periodic = new Periodic(context.nodeClock, async () => this.#look(), {
      interval: () => INTERVAL,
      chance: context.random.number,
      onError: (error) => context.events.next({ type: 'problem', action: 'look for leaders', error }),
    });
  }

  start(): void {
    for (const candidate of this.cluster.candidates) this.#seenAt.set(candidate, this.context.nodeClock.monotonic());
    this.#periodic.start();
  }

  stop(): void {
    this.#periodic.stop();
  }

  /** The present alarms. */
  get faults(): readonly LeadershipFault[] {
    return [...this.#faults.values()];
  }

  #look(): void {
    for (const candidate of this.cluster.candidates) {
      // Also notices what no event reports, for example that the connection is back.
      candidate.look();
      if (candidate.leader) this.#faults.delete(candidate);
      if (candidate.leader) this.#seenAt.set(candidate, this.context.nodeClock.monotonic());
      else this.#check(candidate);
    }
  }

  #check(candidate: Candidate): void {
    const { nodeClock, timing, events, isClosing } = this.context;
    const since = this.#seenAt.get(candidate)!;
    const missing = nodeClock.monotonic() - since;
    const lease = candidate.own.recordClient.known?.definition?.duration ?? this.cluster.lease;
    if (this.#faults.has(candidate) || missing <= lease + timing.clockTolerance + PATIENCE) return;
    const { scope, semaphore } = candidate;
    const why = scopeStatus(candidate, isClosing()).sentence!;
    const sentence = `scope "${scope}" has had no leader for ${Math.round(missing / 1000)} s: ${why}`;
    this.#faults.set(candidate, { since, sentence });
    events.next({ type: 'no-leader', semaphore, scope, sentence });
  }
}
