import type { ArchiveFailure } from './reported-calls.js';
import { Deadline } from '../../../core/async/deadline.js';
import { Periodic } from '../../../core/async/periodic.js';
import type { Context } from '../../../core/context/context.js';
import { omitUndefined } from '../../../core/decision/index.js';
import { Batches } from '../../../core/journals/batches.js';
import type { HistoryEntry } from '../history-answers.js';
import type { EndedRun } from '../entry-schemas.js';
import { LONGEST_STACK } from '../jobs/job-record.js';
import type { NodeInfo } from '../node-info.js';
import { BoundedCalls } from './bounded-calls.js';
import { CrashedRuns } from './crashed-runs.js';
import type { ArchivedRun, HistoryArchive, HistoryArchiveDefinition } from './history-archive.js';

/** ms for which runs are collected before they are archived together. */
const GATHERING = 1000;
/** ms after a failure until unarchived runs are appended again. */
const PATIENCE = 10_000;
/**
 * ms until the next removal of what is too old: usually, if the last one left something, and at first, after a failure or
 * without cluster time.
 */
const REMOVAL = { usual: 600_000, more: 1000, first: 60_000 };
/** The most ms that a shutdown waits for the archive, and the least, also if runs and tasks get less. */
const CLOSING = { most: 5000, least: 1000 };
/** Share of that for the remaining runs. The rest is for the archive's own end. */
const FOR_RUNS = 0.8;

interface Waiting {
  readonly run: ArchivedRun;
  /** Characters, about. */
  readonly length: number;
}

interface Of {
  /** Reads the last runs of all nodes. */
  readonly history: (limit: number) => Promise<readonly HistoryEntry[]>;
  readonly nodes: () => Promise<readonly NodeInfo[]>;
}

/**
 * Archives the runs that this node made, when they end, and runs of nodes that died. No run waits for it: runs wait in a
 * bounded queue, and the oldest are dropped while the archive fails for too long.
 */
export class RunArchivist {
  readonly #archive: HistoryArchive;
  readonly #calls: BoundedCalls;
  readonly #batches: Batches<Waiting>;
  readonly #crashed: CrashedRuns;
  readonly #removal?: Periodic;
  /** ms */
  #untilRemoval = REMOVAL.usual;
  #count = 0;
  /** Why the last attempt before the end failed. */
  #lastError: unknown;

  constructor(
    definition: HistoryArchiveDefinition,
    private readonly context: Context,
    /** `shutdownGrace` in ms. */
    private readonly grace: number,
    /** Of the whole cluster. */
    { history, nodes }: Of,
  ) {
    const { nodeClock, node, random } = context;
    this.#archive = definition.open(node);
    this.#calls = new BoundedCalls(`archive of runs (${definition.kind})`, context);
    this.#batches = new Batches(nodeClock, {
      gathering: GATHERING,
      patience: PATIENCE,
      send: (batch) => this.#append(batch.map(({ run }) => run)),
      onDropped: (count) => this.#problem('append runs', new Error(droppedText(count))),
      onUnwritten: (_count, error) => (this.#lastError = error),
    });
    this.#crashed = new CrashedRuns(context, {
      read: history,
      nodes,
      archive: (run) => this.#add(run),
      onError: (error) => this.#problem('find crashed runs', error),
    });
    if (!this.#archive.removeOld) return;
    this.#removal = new Periodic(nodeClock, () => this.#removeOld(), {
      interval: () => this.#untilRemoval,
      chance: () => random.number(),
      // It never fails: failures are reported, and the next removal follows.
      onError: () => undefined,
    });
  }

  /** Actions that keep failing, and how many runs were dropped meanwhile. */
  get failures(): readonly ArchiveFailure[] {
    const { failures } = this.#calls;
    const { dropped } = this.#batches;
    if (dropped === 0) return failures;
    // Health remembers when it first reported it.
    return [...failures, { since: this.context.nodeClock.monotonic(), sentence: droppedText(dropped) }];
  }

  /** Begins to remove what is too old. Runs are archived also before. */
  start(): void {
    this.#removal?.start(REMOVAL.first);
    this.#crashed.start();
  }

  /** Notes a run that has ended. @param stack of the error with which it failed */
  note(entry: EndedRun, stack?: string): void {
    const id = `${entry.node.instance}-${this.#count++}`;
    this.#add({ ...entry, ...omitUndefined({ stack: stack?.slice(0, LONGEST_STACK) }), id });
  }

  #add(run: ArchivedRun): void {
    this.#batches.add({ run, length: JSON.stringify(run).length });
  }

  /**
   * Tries once to archive the remaining runs, and closes the archive: together for as long as `shutdownGrace`, and for 5 s
   * at most. Reports how many runs were left. Never rejects.
   */
  async close(): Promise<void> {
    this.#removal?.stop();
    this.#crashed.stop();
    const patience = Math.max(CLOSING.least, Math.min(CLOSING.most, this.grace));
    const whole = new Deadline(this.context.timers, patience);
    const forRuns = patience * FOR_RUNS;
    const late = (cause: unknown) => (this.#lastError = new Error(`no answer within ${forRuns} ms`, { cause }));
    await new Deadline(this.context.timers, forRuns).race(this.#batches.close()).catch(late);
    const left = this.#batches.count;
    if (left > 0) this.#problem(`append ${left} runs before the end`, this.#lastError);
    await this.#calls.try('close', async () => this.#archive.close(), { patience: whole.remaining, isLast: true });
  }

  /** Async functions around the archive's methods, because one that users write may return no promise. */
  #append(runs: readonly ArchivedRun[]): Promise<void> {
    return this.#calls.run('append runs', async () => this.#archive.append(runs));
  }

  async #removeOld(): Promise<void> {
    const { clusterClock } = this.context;
    this.#untilRemoval = REMOVAL.first;
    // By a wrong clock of this node all runs could be too old.
    if (!clusterClock.isFresh) return;
    const call = async () => this.#archive.removeOld!(clusterClock.latest());
    const hasMore = await this.#calls.try('remove old runs', call);
    if (hasMore !== undefined) this.#untilRemoval = hasMore ? REMOVAL.more : REMOVAL.usual;
  }

  #problem(action: string, error: unknown): void {
    this.context.events.next({ type: 'problem', action: `${this.#calls.subject}: ${action}`, error });
  }
}

function droppedText(count: number): string {
  return `${count} runs were dropped while the archive of runs failed: the history of the cluster has the last ones`;
}
