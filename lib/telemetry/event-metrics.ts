import { LEADERSHIP_JOB } from '../core/decision/reserved-names.js';
import type { EventOf, GatekeeperEvent, RunOfJob } from '../core/context/events.js';
import { isProgram } from '../core/context/node-identity.js';
import { typeOfId } from '../tasks/rules/task-id.js';
import type { ActiveWork } from './active-work.js';
import type { Labels } from './labels.js';
import { ATTRIBUTES as A, type RecordValue } from './metrics.js';

/** Metrics of the events about permits. */
const PERMITS = { granted: 'grants', refreshed: 'refreshes', released: 'releases' } as const;

/** Counts the events of a node. */
export class EventMetrics {
  constructor(
    private readonly record: RecordValue,
    private readonly labels: Labels,
    private readonly activeRuns: ActiveWork,
  ) {}

  note(event: GatekeeperEvent): void {
    switch (event.type) {
      case 'granted':
      case 'refreshed':
      case 'released':
        return this.#permit(event);
      case 'lost':
        return this.record('losses', 1, { ...this.#semaphore(event), [A.loss]: event.reason });
      case 'run-started':
      case 'run-finished':
        return this.#run(event);
      case 'run-skipped':
        return this.record('skips', 1, { ...this.#job(event), [A.skip]: event.reason });
      case 'run-unguarded':
        return this.record('unguarded', 1, this.#job(event));
      case 'clock-suspect':
        return this.record('clockSuspicions', 1);
      case 'store-lost':
        return this.record('storeOutages', 1);
      default:
        return this.#noteOfCluster(event);
    }
  }

  #noteOfCluster(event: GatekeeperEvent): void {
    switch (event.type) {
      case 'leadership-gained':
        return this.record('terms', 1, { [A.scope]: event.scope });
      case 'leadership-lost':
        return this.record('termEnds', 1, { [A.scope]: event.scope, [A.end]: event.reason });
      case 'resources-changed':
        this.#moved(event.group, 'added', event.added);
        return this.#moved(event.group, 'revoked', event.revoked);
      case 'task-crashed':
        return this.#crashed(event);
      case 'member-joined':
      case 'member-left':
      case 'member-crashed':
      case 'member-rejoined':
        return this.record('memberChanges', 1, { [A.change]: event.type.slice('member-'.length) });
      case 'membership-lost':
        return this.record('memberChanges', 1, { [A.change]: 'lost' });
      default:
    }
  }

  /** A permit of a program is not held by this node, which only asks the store for it. */
  #permit(event: EventOf<keyof typeof PERMITS>): void {
    if (!isProgram(event.permit.instance)) this.record(PERMITS[event.type], 1, this.#semaphore(event));
  }

  /** A term of leadership is no run: it may last for weeks. */
  #run(event: Extract<GatekeeperEvent, { type: 'run-started' | 'run-finished' }>): void {
    if (event.job === LEADERSHIP_JOB) return;
    const attributes = this.#job(event);
    this.activeRuns.add(attributes, event.type === 'run-started' ? 1 : -1);
    if (event.type === 'run-started') return;
    const end =
      'error' in event
        ? { [A.outcome]: 'failed', [A.error]: this.labels.error(event.error) }
        : { [A.outcome]: 'completed' };
    this.record('runDuration', event.took / 1000, { ...attributes, ...end });
  }

  #moved(group: string, change: string, count: number): void {
    if (count > 0) this.record('moves', count, { [A.group]: group, [A.change]: change });
  }

  #crashed({ task, outcome }: Extract<GatekeeperEvent, { type: 'task-crashed' }>): void {
    const type = this.labels.task(typeOfId(task));
    this.record('crashes', 1, { [A.task]: type });
    if (outcome === 'crashed') this.record('dead', 1, { [A.task]: type, [A.outcome]: outcome });
  }

  #semaphore({ semaphore }: { readonly semaphore: string }) {
    return { [A.semaphore]: this.labels.semaphore(semaphore) };
  }

  #job({ semaphore, job }: Pick<RunOfJob, 'semaphore' | 'job'>) {
    return { [A.semaphore]: this.labels.semaphore(semaphore), [A.job]: this.labels.job(job, semaphore) };
  }
}
