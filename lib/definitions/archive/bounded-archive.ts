import { messageOf } from '../../decision/index.js';
import type { Context } from '../../context/context.js';
import { Deadline, DeadlinePassed } from '../../async/deadline.js';
import {
  type ArchivedDefinition,
  CorruptArchiveError,
  type DefinitionArchive,
  type Persistence,
} from './definition-archive.js';

/** Timeout of a call in ms. Long, because an archive is used rarely and may be on a slow disk. */
const PATIENCE = 10_000;

/** Archived definitions, by the semaphore's name. */
export type Archived = ReadonlyMap<string, ArchivedDefinition>;

/** An action that keeps failing. */
interface ArchiveFailure {
  /** The node's monotonic ms. */
  readonly since: number;
  /** For people. */
  readonly sentence: string;
}

/** Limits the time of an archive's calls, and reports each failure as one event as long as it lasts. */
export class BoundedArchive {
  readonly #archive: DefinitionArchive;
  #loading?: Promise<Archived | undefined>;
  /** Failures by action: one action may fail at each sweep while another has nothing to do. */
  readonly #failures = new Map<string, ArchiveFailure>();
  /** A call timed out and may still end: no new call starts before that. */
  #hanging = false;

  constructor(
    private readonly persistence: Persistence,
    private readonly context: Context,
  ) {
    this.#archive = persistence.open();
  }

  /** Actions that keep failing. */
  get failures(): readonly ArchiveFailure[] {
    return [...this.#failures.values()];
  }

  /**
   * Reads the archive once, before this node writes any definition into the store.
   *
   * @returns undefined while the archive can't be read; then paused jobs are unknown
   */
  async archived(): Promise<Archived | undefined> {
    this.#loading ??= this.#load();
    const archived = await this.#loading;
    if (!archived) this.#loading = undefined;
    return archived;
  }

  async save(definitions: readonly ArchivedDefinition[]): Promise<void> {
    await this.#try('save definitions', () => this.#archive.save(definitions));
  }

  async close(): Promise<void> {
    this.#hanging = false;
    await this.#try('close', () => this.#archive.close());
  }

  async #load(): Promise<Archived | undefined> {
    const definitions = await this.#try('load definitions', () => this.#loadRest());
    return definitions && new Map(definitions.map((each) => [each.name, each]));
  }

  /** Loads twice if needed: the first call puts corrupt definitions aside, and the second returns the readable ones. */
  async #loadRest(): Promise<ArchivedDefinition[]> {
    try {
      return await this.#archive.load();
    } catch (error) {
      if (!(error instanceof CorruptArchiveError)) throw error;
      this.#report('load definitions', error);
      return this.#archive.load();
    }
  }

  async #try<T>(action: string, call: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await this.#inTime(call);
      this.#failures.delete(action);
      return result;
    } catch (error) {
      this.#report(action, error);
      return undefined;
    }
  }

  async #inTime<T>(call: () => Promise<T>): Promise<T> {
    if (this.#hanging) throw new Error('an earlier call is still without an answer');
    const answer = call();
    try {
      return await new Deadline(this.context.timers, PATIENCE).race(answer);
    } catch (error) {
      if (!(error instanceof DeadlinePassed)) throw error;
      this.#hanging = true;
      const end = () => (this.#hanging = false);
      answer.then(end, end);
      throw new Error(`no answer within ${PATIENCE} ms`, { cause: error });
    }
  }

  #report(action: string, error: unknown): void {
    const known = this.#failures.get(action);
    const tried = `archive (${this.persistence.kind}): ${action}`;
    const sentence = `${tried}: ${messageOf(error)}`;
    if (sentence === known?.sentence) return;
    this.#failures.set(action, { since: known?.since ?? this.context.nodeClock.monotonic(), sentence });
    this.context.events.next({ type: 'problem', action: tried, error });
  }
}
