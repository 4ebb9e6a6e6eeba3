import { Periodic } from '../../core/async/periodic.js';
import type { Context } from '../../core/context/context.js';
import type { Candidate, Cluster } from '../../leadership/index.js';
import { PATIENCE, scopeStatus } from './scope-status.js';

/** ms between two looks. */
const INTERVAL = 1000;

/** A part of a fault: of one scope of leadership, or of one allocation group. */
export interface FaultPart {
  /** Name of the scope or of the group. */
  readonly subject: string;
  /** The node's monotonic ms in the facts of its health; cluster time, ms since the epoch, in alerts. */
  readonly since: number;
  readonly sentence: string;
}

/** Raises an alarm, once each time, if a scope in which this node takes part has had no leader for too long. */
export class LeaderWatch {
  readonly #seenAt = new Map<Candidate, number>();
  readonly #faults = new Map<Candidate, FaultPart>();
  readonly #periodic: Periodic;
  #isStarted = false;

  constructor(
    private readonly clusters: readonly Pick<Cluster, 'candidates' | 'settings'>[],
    private readonly context: Context,
  ) {
    this.#periodic = new Periodic(context.nodeClock, async () => this.#look(), {
      interval: () => INTERVAL,
      chance: context.random.number,
      onError: (error) => context.events.next({ type: 'problem', action: 'look for leaders', error }),
    });
  }

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#periodic.start();
  }

  stop(): void {
    this.#periodic.stop();
  }

  /** The present alarms. */
  get faults(): readonly FaultPart[] {
    return [...this.#faults.values()];
  }

  #look(): void {
    for (const cluster of this.clusters) this.#lookAt(cluster);
  }

  #lookAt({ candidates, settings }: Pick<Cluster, 'candidates' | 'settings'>): void {
    for (const candidate of candidates.filter(({ isStarted }) => isStarted)) {
      // Also notices what no event reports, for example that the connection is back.
      candidate.look();
      if (candidate.leader) this.#faults.delete(candidate);
      if (candidate.leader) this.#seenAt.set(candidate, this.context.nodeClock.monotonic());
      else this.#check(candidate, settings.lease);
    }
  }

  #check(candidate: Candidate, own: number): void {
    const { nodeClock, timing, events, isClosing } = this.context;
    const now = nodeClock.monotonic();
    const since = this.#seenAt.get(candidate) ?? now;
    this.#seenAt.set(candidate, since);
    const missing = now - since;
    const lease = candidate.own.cell.known?.definition?.duration ?? own;
    const isNew = !this.#faults.has(candidate);
    if (isNew && missing <= lease + timing.clockTolerance + PATIENCE) return;
    const { scope, semaphore } = candidate;
    const why = scopeStatus(candidate, isClosing()).sentence!;
    const sentence = `scope "${scope}" has had no leader for ${Math.round(missing / 1000)} s: ${why}`;
    // The reason may be another one meanwhile.
    this.#faults.set(candidate, { subject: scope, since, sentence });
    if (isNew) events.next({ type: 'no-leader', semaphore, scope, sentence });
  }
}
