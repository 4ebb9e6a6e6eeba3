import type { Subscription } from 'rxjs';
import {
  LEADER_PREFIX,
  type StoredPermit,
  omitUndefined,
  messageWithCauses,
  stackWithCauses,
} from '../../core/decision/index.js';
import { type Context, timeOf } from '../../core/context/context.js';
import type { GatekeeperEvent, SkipReason, TermEnd } from '../../core/context/events.js';
import type { RunArchivist } from './archive/run-archivist.js';
import { storedRunEntrySchema, type EndedRun, type StartEntry, type StoredRunEntry } from './entry-schemas.js';
import type { JobHistories } from './jobs/job-histories.js';
import { JournalWriter } from '../../core/journals/journal-writer.js';
import type { HistoryEntry } from './history-answers.js';
import { jobKey } from './history-entry.js';
import { LEADERSHIP_JOB } from '../../core/decision/reserved-names.js';
import { type RunFacts, openStarts, paired } from './jobs/paired-runs.js';
import { LONG, type RunInProgress, RunsInProgress } from './runs-in-progress.js';

/** Characters: long enough for a sentence, short enough to keep thousands of messages. */
const LONGEST_MESSAGE = 500;
/** Maximum number of jobs in memory. No application has as many methods, but names of jobs may come from arguments. */
const MOST_JOBS = 1000;

type Of<T extends GatekeeperEvent['type']> = Extract<GatekeeperEvent, { type: T }>;

/** The history of the runs of all nodes. This node writes its own runs, which it learns from its events. */
export class RunHistory {
  readonly #journal: JournalWriter<StoredRunEntry>;
  readonly #subscription?: Subscription;
  readonly #running: RunsInProgress;
  /** Why the last term of this node ended, by the scope's semaphore. */
  readonly #termEnds = new Map<string, { readonly token: number; readonly reason: TermEnd }>();
  /** Current series of skips, by {@link jobKey}; the least recently updated first. */
  readonly #skips = new Map<string, { reason: SkipReason; count: number }>();

  constructor(
    private readonly context: Context,
    private readonly options: {
      /** Whether this node's own runs are written. */
      readonly isOn: boolean;
      /** Whether the past of jobs gets the stacks of errors. */
      readonly keepsStacks: boolean;
      /** Whether the starts of long runs are written too. No reader could tell whether an unlisted node lives. */
      readonly isListed: boolean;
      /** Keeps this node's own runs for longer than the cluster does. Absent without the option. */
      readonly archive?: Pick<RunArchivist, 'note'> | undefined;
      /** Also gets this node's own runs, because the journal drops the oldest of all jobs. */
      readonly jobs: Pick<JobHistories, 'note' | 'unreadable'>;
      /** Reads what is known of starts without an end. */
      readonly factsOf: (open: readonly StartEntry[]) => Promise<RunFacts>;
    },
  ) {
    this.#journal = new JournalWriter('runs', storedRunEntrySchema, context);
    this.#running = new RunsInProgress(context.nodeClock, (run) => this.#noteStart(run));
    if (options.isOn) this.#subscription = context.events.subscribe((event) => this.#observe(event));
  }

  /** Number of entries that the latest reading left out because they can't be read. */
  get unreadable(): number {
    return this.#journal.unreadable + this.options.jobs.unreadable;
  }

  /** Reads the last `limit` entries, oldest first. @throws StoreUnavailableError */
  async read(limit: number): Promise<HistoryEntry[]> {
    // Starts and expiries are not shown as such, so more entries may have to be read.
    for (let length = limit; ; length *= 2) {
      const entries = await this.#journal.read(length);
      const open = openStarts(entries);
      const shown = open.length + entries.filter(({ kind }) => kind === 'run' || kind === 'skip').length;
      if (shown < limit && entries.length >= length) continue;
      return paired(entries, open, await this.options.factsOf(open)).slice(-limit);
    }
  }

  async close(): Promise<void> {
    this.#subscription?.unsubscribe();
    this.#running.close();
    await this.#journal.close();
  }

  #note(entry: StoredRunEntry, error?: unknown): void {
    const { jobs, archive, keepsStacks } = this.options;
    const stack = keepsStacks ? stackWithCauses(error) : undefined;
    this.#journal.append(entry);
    jobs.note(entry, stack);
    // The term of another node, which expired, is not a run that this node made.
    if (entry.kind === 'run' && entry.node === this.context.node) archive?.note(entry, stack);
  }

  #observe(event: GatekeeperEvent): void {
    switch (event.type) {
      case 'run-started':
        return this.#started(event);
      case 'lost':
        return this.#running.lose(event.permit.id, { at: timeOf(this.context), reason: event.reason });
      case 'refreshed':
        return this.#running.renew(event.permit.id);
      case 'leadership-lost':
        return void this.#termEnds.set(event.semaphore, event);
      case 'expired':
        return this.#expired(event);
      case 'run-finished':
        return this.#finished(event);
      case 'run-skipped':
        return this.#skipped(event);
      default:
    }
  }

  #started(event: Of<'run-started'>): void {
    this.#running.start(event, timeOf(this.context));
    this.#skips.delete(jobKey(event));
  }

  /** A term of leadership has entries of its own. */
  #noteStart({ at, loss, event: { semaphore, job, run, by, missed, permit } }: RunInProgress): boolean {
    if (!this.options.isListed || job === LEADERSHIP_JOB) return false;
    const { node } = this.context;
    const held = permit && { token: permit.token, slot: permit.slot, until: permit.expiresAt };
    this.#note({ kind: 'start', semaphore, job, node, at, run, ...omitUndefined({ by, missed, loss }), ...held });
    return true;
  }

  #finished(event: Of<'run-finished'>): void {
    const { semaphore, job, took, error, permit, attempts, by, missed } = event;
    const run = this.#running.end(event);
    const failed = 'error' in event;
    const entry: EndedRun = {
      kind: 'run',
      semaphore,
      job,
      node: this.context.node,
      at: run?.at ?? Math.round(timeOf(this.context) - took),
      took: Math.round(took),
      outcome: run?.loss ? 'lost' : failed ? 'failed' : 'ok',
      ...(failed && { message: shortMessageOf(error) }),
      ...omitUndefined({ by, missed, attempts, renewals: run?.renewals || undefined, loss: run?.loss }),
      ...(permit && { token: permit.token, slot: permit.slot, ...this.#endOf(event, permit) }),
      run: event.run,
    };
    this.#note(entry, error);
  }

  /** Why a term of this node ended. */
  #endOf({ semaphore, job }: Of<'run-finished'>, { token }: StoredPermit): { readonly ended?: TermEnd } {
    const end = job === LEADERSHIP_JOB ? this.#termEnds.get(semaphore) : undefined;
    return end?.token === token ? { ended: end.reason } : {};
  }

  /** A node that crashed can't write when its permit ended. The node that drops the permit does that. */
  #expired({ semaphore, permits }: Of<'expired'>): void {
    if (semaphore.startsWith(LEADER_PREFIX)) return this.#termExpired(semaphore, permits);
    for (const { group, acquirer, instance, grantedAt, expiresAt: at, duration, token } of permits) {
      // Otherwise the start of the run has the time, or the run was too short for one.
      if (at > grantedAt + Math.max(duration, LONG))
        this.#note({ kind: 'expiry', semaphore, node: { group, acquirer, instance }, at, token });
    }
  }

  #termExpired(semaphore: string, permits: readonly StoredPermit[]): void {
    for (const { group, acquirer, instance, grantedAt: at, expiresAt, token, slot } of permits) {
      const took = Math.max(0, expiresAt - at);
      const run = {
        kind: 'run',
        semaphore,
        job: LEADERSHIP_JOB,
        node: { group, acquirer, instance },
        at,
        took,
      } as const;
      this.#note({ ...run, outcome: 'lost', token, slot, ended: 'expired' });
    }
  }

  #skipped(event: Of<'run-skipped'>): void {
    const { semaphore, job, reason } = event;
    const row = this.#skips.get(jobKey(event));
    const goesOn = row?.reason === reason;
    setLast(this.#skips, jobKey(event), { reason, count: goesOn ? row.count + 1 : 1 });
    if (goesOn) return;
    const at = timeOf(this.context);
    const { node } = this.context;
    this.#note({ kind: 'skip', semaphore, job, node, at, reason, ...(row && { before: row }) });
  }
}

/** Sets the value of a job, and forgets the least recently set one if there are too many. */
function setLast<Value>(known: Map<string, Value>, key: string, value: Value): void {
  known.delete(key);
  known.set(key, value);
  if (known.size > MOST_JOBS) known.delete(known.keys().next().value!);
}

function shortMessageOf(error: unknown): string {
  const message = messageWithCauses(error);
  return message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message;
}
