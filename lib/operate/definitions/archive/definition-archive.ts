import { createHash } from 'node:crypto';
import { Deadline } from '../../../core/async/deadline.js';
import { SerialExecutor } from '../../../core/async/serial-executor.js';
import { eachInPieces, inSlices } from '../../../core/async/slices.js';
import type { Context } from '../../../core/context/context.js';
import { forEachLimit } from '../../../core/async/for-each-limit.js';
import { type ArchivedDefinition, show, withoutDoubt } from '../../../core/decision/index.js';
import type { Archived } from '../../../core/permits/declared/declared-definitions.js';
import type { ArchiveStore, Driver } from '../../../core/store/driver.js';
import { type CallLimit, Store } from '../../../core/store/store.js';
import { type ArchiveFailure, ReportedCalls } from '../../activity/archive/reported-calls.js';
import { CorruptArchiveError, NOTHING, decodeArchived, encodeArchived } from './archive.codec.js';

/** Keys of archived definitions: this, and the name of the semaphore. */
const KEY_PREFIX = 'definition:';
/** Keys of texts that could not be read: this, the name, and a digest of the text. */
const ASIDE_PREFIX = 'unreadable-definition:';

/** ms for all calls of a load or a save. Long, because an archive is used rarely and may be on a slow disk. */
const PATIENCE = 10_000;

/** Other nodes' watches need not hear of it: nodes read an archive only at their start. */
const QUIET = { notify: 'none' } as const;

/** A text as this node last read or wrote it. */
interface Seen {
  readonly text: string;
  /** Undefined if the text was put aside. */
  readonly definition: ArchivedDefinition | undefined;
}

/**
 * A store in which definitions outlive the cluster's memory, one text per semaphore. Several processes may share one
 * archive. For each semaphore the higher revision counts; if revisions are equal, the last saved one.
 *
 * Each failure is reported as one event as long as it lasts. A call that the store has not ended stops further ones.
 */
export class DefinitionArchive {
  readonly #store: Store;
  readonly #calls: ReportedCalls;
  /** One load or save at a time. */
  readonly #turns = new SerialExecutor();
  /** By the semaphore's name. Undefined before the first listing, and after a failure: then the store may have other texts. */
  #seen: Map<string, Seen> | undefined;
  /** Place of the text that is checked next. */
  #checked = 0;
  #loading?: Promise<Archived | undefined>;

  constructor(
    definition: ArchiveStore,
    private readonly context: Context,
  ) {
    // Nothing but records is used, and the store of an archive need not have more.
    const open = () => definition.open({ callTimeout: PATIENCE / 2, hearsChanges: false }) as Driver;
    this.#store = new Store({ open, timers: context.timers, callTimeout: PATIENCE });
    this.#calls = new ReportedCalls(`archive (${definition.kind})`, context);
  }

  /** Actions that keep failing. */
  get failures(): readonly ArchiveFailure[] {
    return this.#calls.failures;
  }

  /**
   * Reads the archive once, before this node writes any definition into the store.
   *
   * @returns undefined while the archive can't be read; then paused jobs are unknown
   */
  async archived(): Promise<Archived | undefined> {
    this.#loading ??= this.#inTurn('load definitions', (limit, action) => this.#list(limit, action)).then(
      (seen) => new Map([...seen].flatMap(([name, { definition }]) => (definition ? [[name, definition]] : []))),
      () => undefined,
    );
    const archived = await this.#loading;
    if (!archived) this.#loading = undefined;
    return archived;
  }

  /** Adds definitions, unless the archive has them or newer ones. Never rejects. @returns whether all of them are there */
  save(definitions: readonly ArchivedDefinition[]): Promise<boolean> {
    return this.#inTurn('save definitions', (limit, action) => this.#save(definitions, limit, action)).then(
      () => true,
      () => false,
    );
  }

  /** After loads and saves that have begun, also if their calls are without an answer. */
  async close(): Promise<void> {
    const close = () => new Deadline(this.context.timers, PATIENCE).race(this.#store.close());
    await this.#turns.run(() => this.#calls.try('close', close));
  }

  /** @throws its error, after it was reported */
  #inTurn<T>(action: string, work: (limit: CallLimit, action: string) => Promise<T>): Promise<T> {
    const limited = async () => {
      if (this.#isUnanswered) throw new Error('an earlier call is still without an answer');
      try {
        return await work({ deadline: new Deadline(this.context.timers, PATIENCE) }, action);
      } catch (error) {
        this.#seen = undefined;
        throw error;
      }
    };
    return this.#turns.run(() => this.#calls.run(action, limited));
  }

  /** Whether a call timed out and may still end. */
  get #isUnanswered(): boolean {
    return (['records', 'reads', 'writes'] as const).some((part) => this.#store.calls(part).waitingSince !== undefined);
  }

  /** Lists twice if needed: after the first time, texts that can't be read are put aside. @throws NewerArchiveError */
  async #list(limit: CallLimit, action: string): Promise<Map<string, Seen>> {
    const seen = new Map<string, Seen>();
    const unreadable: { readonly name: string; readonly text: string; readonly fault: Error }[] = [];
    const texts = await this.#store.records.list(KEY_PREFIX, limit);
    const decoding = eachInPieces(texts, ([key, text]) => {
      const name = key.slice(KEY_PREFIX.length);
      try {
        seen.set(name, seenOf(name, text));
      } catch (fault) {
        if (!(fault instanceof CorruptArchiveError)) throw fault;
        unreadable.push({ name, text, fault });
      }
    });
    await inSlices(decoding, this.context.nodeClock);
    if (unreadable.length === 0) return (this.#seen = seen);
    const faults: string[] = [];
    for (const { name, text, fault } of unreadable) {
      faults.push(`${fault.message}. It was put aside as ${show(await this.#putAside(name, text, limit))}`);
    }
    this.#calls.report(action, new CorruptArchiveError(`${faults.join('; ')}, and is no longer read`));
    return this.#list(limit, action);
  }

  /** Copies a text first, and then takes it away, if no process has repaired it since. @returns the key of the copy */
  async #putAside(name: string, text: string, limit: CallLimit): Promise<string> {
    const kept = withoutDoubt(text);
    const digest = createHash('sha256').update(kept).digest('hex').slice(0, 16);
    const aside = `${ASIDE_PREFIX}${name}:${digest}`;
    // Another process may have copied it, too: the key is the same.
    await this.#store.records.compareAndSet(aside, undefined, kept, { ...limit, ...QUIET });
    await this.#store.records.compareAndSet(keyOf(name), text, NOTHING, { ...limit, ...QUIET });
    return aside;
  }

  /** Called with all definitions at every change and every sweep. */
  async #save(definitions: readonly ArchivedDefinition[], limit: CallLimit, action: string): Promise<void> {
    if (definitions.length === 0) return;
    const seen = this.#seen ?? (await this.#list(limit, action));
    const due = () => definitions.filter((each) => isFurther(each, seen.get(each.name)?.definition));
    if (due().length === 0 && !(await this.#isStillThere(seen, limit))) {
      this.#seen = undefined;
      return this.#save(definitions, limit, action);
    }
    for (let left = due(); left.length > 0; left = due()) {
      await forEachLimit(left, (each) => this.#write(each, seen, limit));
      await this.#readAgain(due(), seen, limit);
    }
  }

  /** Looks at one text in turn: an archive that was lost, and is idle, is written again. */
  async #isStillThere(seen: ReadonlyMap<string, Seen>, limit: CallLimit): Promise<boolean> {
    if (seen.size === 0) return true;
    const [name, { text }] = [...seen][this.#checked++ % seen.size]!;
    return (await this.#store.records.read(keyOf(name), limit)) === text;
  }

  async #write(definition: ArchivedDefinition, seen: Map<string, Seen>, limit: CallLimit): Promise<void> {
    const { name } = definition;
    const text = encodeArchived(definition);
    const options = { ...limit, ...QUIET };
    const isWritten = await this.#store.records.compareAndSet(keyOf(name), seen.get(name)?.text, text, options);
    if (isWritten) seen.set(name, { text, definition });
  }

  /** Other processes have written these: usually the same, because all nodes hear of a change at the same time. */
  async #readAgain(
    definitions: readonly ArchivedDefinition[],
    seen: Map<string, Seen>,
    limit: CallLimit,
  ): Promise<void> {
    const texts = await this.#store.records.readMany(
      definitions.map(({ name }) => keyOf(name)),
      limit,
    );
    const decoding = eachInPieces(definitions, ({ name }) => {
      const text = texts.get(keyOf(name));
      if (text === undefined) seen.delete(name);
      else seen.set(name, seenOf(name, text));
    });
    await inSlices(decoding, this.context.nodeClock);
  }
}

function keyOf(name: string): string {
  return KEY_PREFIX + name;
}

/** @throws CorruptArchiveError or NewerArchiveError */
function seenOf(name: string, text: string): Seen {
  return { text, definition: decodeArchived(name, withoutDoubt(text)) };
}

/** Whether `one` replaces `other`: it has a higher revision, or another change with the same revision. */
function isFurther(one: ArchivedDefinition, other: ArchivedDefinition | undefined): boolean {
  if (!other || one.revision !== other.revision) return !other || one.revision > other.revision;
  return one.change?.id !== other.change?.id;
}
