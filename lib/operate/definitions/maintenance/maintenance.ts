import { type SemaphoreRecord, isOwnName, messageOf, show } from '../../../core/decision/index.js';
import { inSlices } from '../../../core/async/slices.js';
import type { Audit } from '../../activity/index.js';
import type { Context } from '../../../core/context/context.js';
import type { Cell } from '../../../core/cell/cell.js';
import type { SemaphoreListing } from '../../../core/cell/semaphore-listing.js';
import { afterWrite } from '../../../core/store/after-write.js';
import type { ChangeSetsRecord } from '../change-sets/change-set.js';
import type { ChangeSets, ListedChange } from '../change-sets/change-sets.js';
import type { WindowEntry } from '../change-sets/window-part.js';
import type { DefinitionWriter } from '../definition-writer.js';
import { eachWhileAnswered } from '../each-while-answered.js';
import { namesInPieces } from '../migration.js';
import {
  type EndMaintenanceOptions,
  type MaintenanceRequest,
  parseEndOptions,
  parseMaintenanceRequest,
} from './maintenance-request.js';
import type { MaintenanceEnd, MaintenanceStart, MaintenanceWindow, OpenWindow } from './maintenance-answers.js';
import { UnknownMaintenanceError } from './maintenance.errors.js';
import { type ResumeOutcome, idOfEnd, leaveToOthers, partsOf, resumeEntry, setOfEnd } from './pausing.js';
import { WindowStart } from './window-start.js';
import { type Wanting, isOurs, replaced, wantedByOthers, withoutEntries } from './window-rules.js';
import { windowStatus } from './window-status.js';
import { type StoredWindow, Windows } from './windows.js';

/** Limit of matching steps of one call: at most about 8 s of CPU, in slices. */
const MOST_WORK = 200_000_000;

/** A window that is ending, and the semaphores that other windows want paused. */
interface BegunEnd {
  readonly ending: StoredWindow;
  readonly wanted: ReadonlyMap<string, readonly Wanting[]>;
}

type Author = ReturnType<DefinitionWriter['author']>;

/** Maintenance windows: named pauses of many semaphores, each of which remembers exactly what it paused. */
export class Maintenance {
  readonly #windows: Windows;
  readonly #starting: WindowStart;

  constructor(
    private readonly writer: DefinitionWriter,
    root: Cell<ChangeSetsRecord>,
    private readonly sets: ChangeSets,
    private readonly audit: Audit,
    private readonly context: Context,
    private readonly listing: SemaphoreListing,
  ) {
    this.#windows = new Windows(root);
    this.#starting = new WindowStart(this.#windows, sets, writer, context, {
      listing,
      matching: (patterns, names) => this.#matching(patterns, names),
      note: (window, author) => this.#note('start-maintenance', window, author),
      listEnd: (window, entries, author) => this.#listEnd(window, entries, author),
    });
  }

  /**
   * Starts a window: pauses all semaphores that match and are not paused. Repeat the call to continue an interrupted
   * start, or to take in semaphores that were defined since.
   *
   * @throws NothingMatchesError if the patterns match no semaphore
   * @throws MaintenanceConflictError if a window of this name has other patterns, or if a window that is ending has
   *   paused one of the semaphores
   * @throws InvalidOptionsError, StoreUnavailableError (NoQuorumError)
   */
  async start(request: MaintenanceRequest): Promise<MaintenanceStart> {
    return this.#starting.start(parseMaintenanceRequest(request));
  }

  /**
   * Ends a window: resumes exactly the semaphores that it paused and that have not changed since. Leaves the others
   * alone, and names them. A semaphore that another window wants paused stays paused until that one ends. Repeat the call
   * to continue an interrupted end.
   *
   * @param window its name
   * @throws UnknownMaintenanceError if there is no such window
   * @throws InvalidOptionsError, StoreUnavailableError (NoQuorumError)
   */
  async end(window: string, options: EndMaintenanceOptions = {}): Promise<MaintenanceEnd> {
    const { limit, onWindow, onPlanned, ...given } = parseEndOptions(options);
    const author = this.writer.author(given);
    const found = (await this.#windows.read()).find(({ name }) => name === window);
    onWindow?.(found?.entries.map(([name]) => name) ?? []);
    onPlanned?.(found?.entries.slice(0, limit).length ?? 0);
    const begun = await this.#beginEnd(window, onWindow);
    return afterWrite(() => this.#resume(begun, author, limit));
  }

  async #resume({ ending, wanted }: BegunEnd, author: Author, limit: number | undefined): Promise<MaintenanceEnd> {
    const bulk = setOfEnd(ending.id);
    const entries = ending.entries.slice(0, limit);
    const resumes = { by: author.by, reason: author.reason ?? `end of maintenance ${show(ending.name)}` };
    const outcomes = new Map<string, ResumeOutcome>();
    const parts = partsOf(await this.#listEnd(ending, entries, resumes));
    const failures = await eachWhileAnswered(entries, this.context, async (entry) => {
      const keeper = await leaveToOthers(this.writer, wanted.get(entry[0]) ?? []);
      const outcome =
        keeper === undefined
          ? await resumeEntry(this.writer, entry, resumes, { bulk, part: parts.get(entry[0]) })
          : { why: `window ${show(keeper)} wants it paused` };
      outcomes.set(entry[0], outcome);
    });
    const rest = await this.#finishEnd(ending, new Set(outcomes.keys()), author);
    const failed = [...failures].map(([[name], error]) => ({ name, error: messageOf(error) }));
    const resumed = [...outcomes].flatMap(([name, outcome]) => (outcome === 'resumed' ? [name] : []));
    const left = [...outcomes].flatMap(([name, outcome]) =>
      typeof outcome === 'object' ? [{ name, ...outcome }] : [],
    );
    return { resumed: resumed.toSorted(), left, failed, remaining: rest - failed.length, bulk };
  }

  /** All windows, in the order of their start. Writes nothing. @throws StoreUnavailableError */
  async list(): Promise<MaintenanceWindow[]> {
    const windows = await this.#windows.read();
    return windows.length === 0 ? [] : this.#statesOf(windows);
  }

  /**
   * All windows as they were started, in the order of their start, without the state of their semaphores. Reads one record,
   * however many semaphores there are. Writes nothing.
   *
   * @throws StoreUnavailableError
   */
  async open(): Promise<OpenWindow[]> {
    const windows = await this.#windows.read();
    return windows.map(({ name, by, since, phase, reason, entries }) => ({
      window: name,
      by,
      since,
      phase,
      ...(reason !== undefined && { reason }),
      listed: entries.map(([each]) => each),
    }));
  }

  /** One window. Writes nothing. @throws UnknownMaintenanceError, StoreUnavailableError */
  async get(window: string): Promise<MaintenanceWindow> {
    const found = (await this.#windows.read()).find(({ name }) => name === window);
    if (!found) throw new UnknownMaintenanceError(window);
    return (await this.#statesOf([found]))[0]!;
  }

  async #statesOf(windows: readonly StoredWindow[]): Promise<MaintenanceWindow[]> {
    const records = await this.listing.all();
    const names = [...records.keys()].filter((name) => !isOwnName(name));
    const states: MaintenanceWindow[] = [];
    for (const window of windows) {
      const matching = await this.#matching(window.patterns, names);
      states.push(windowStatus(window, matching, { records, context: this.context }));
    }
    return states;
  }

  /** Lists the resumes of semaphores that the window has paused, as a change of many that can be undone. */
  async #listEnd(
    { id }: StoredWindow,
    entries: readonly WindowEntry[],
    author: { readonly by: string; readonly reason?: string },
  ): Promise<readonly ListedChange[]> {
    const names = new Set(entries.map(([name]) => name));
    const { records } = await this.listing.listChangeable((name) => names.has(name));
    const planned = entries.flatMap((entry) =>
      isOurs(entry, records.get(entry[0])) ? [resumeOf(entry, records)] : [],
    );
    return this.sets.list({ id: setOfEnd(id), kind: 'window', ...author }, planned);
  }

  #beginEnd(name: string, onWindow: EndMaintenanceOptions['onWindow']): Promise<BegunEnd> {
    return this.#windows.change((windows) => {
      const window = windows.find((each) => each.name === name);
      if (!window) throw new UnknownMaintenanceError(name);
      onWindow?.(window.entries.map(([each]) => each));
      const ending = { ...window, phase: 'ending' as const };
      const result = { ending, wanted: wantedByOthers(window, windows) };
      return window.phase === 'ending' ? { result } : { windows: replaced(windows, ending), result };
    });
  }

  /** Drops what is done, and the window if nothing is left. @returns the number of entries that are left */
  #finishEnd(
    { id, name }: StoredWindow,
    done: ReadonlySet<string>,
    author: { readonly by: string; readonly reason?: string },
  ): Promise<number> {
    return this.#windows.change((windows) => {
      const window = windows.find((each) => each.id === id);
      // Another operator ended it at the same time.
      if (!window) return { result: 0 };
      const next = withoutEntries(window, done);
      const { length } = next.entries;
      if (length > 0) return { windows: replaced(windows, next), result: length };
      const rest = windows.filter((each) => each.id !== id);
      return { windows: rest, result: 0, done: () => this.#note('end-maintenance', name, author) };
    });
  }

  /** The names that match one of the patterns, in order. @throws InvalidOptionsError if that takes too many steps */
  async #matching(patterns: readonly string[], names: readonly string[]): Promise<string[]> {
    const limit = { most: MOST_WORK, subject: 'a maintenance window' };
    const found = new Set<string>();
    for (const pattern of patterns) {
      const open = names.filter((name) => !found.has(name));
      for (const name of await inSlices(namesInPieces(pattern, open), this.context.nodeClock, limit)) found.add(name);
    }
    return [...found].toSorted();
  }

  #note(
    action: 'start-maintenance' | 'end-maintenance',
    window: string,
    author: { readonly by: string; readonly reason?: string },
  ): void {
    this.audit.note({ action, semaphore: `maintenance:${window}`, ...author });
  }
}

function resumeOf(entry: WindowEntry, records: ReadonlyMap<string, SemaphoreRecord>) {
  const [name] = entry;
  return { name, action: 'resume' as const, record: records.get(name), change: idOfEnd(entry) };
}
