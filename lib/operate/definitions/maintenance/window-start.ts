import { type SemaphoreRecord, messageOf, show } from '../../../core/decision/index.js';
import type { Context } from '../../../core/context/context.js';
import { afterWrite } from '../../../core/store/after-write.js';
import type { SemaphoreListing } from '../../../core/cell/semaphore-listing.js';
import type { ChangeSets, ListedChange } from '../change-sets/change-sets.js';
import type { DefinitionWriter } from '../definition-writer.js';
import { NothingMatchesError } from '../definitions.errors.js';
import { eachWhileAnswered } from '../each-while-answered.js';
import type { MaintenanceStart, LeftAlone } from './maintenance-answers.js';
import type { parseMaintenanceRequest } from './maintenance-request.js';
import { MaintenanceConflictError } from './maintenance.errors.js';
import { partsOf, pauseEntry, pauseReason, resumeEntry, setOfEnd } from './pausing.js';
import {
  dueNames,
  isOurs,
  replaced,
  sharedEntries,
  stateOfOthers,
  whyLeft,
  withEntries,
  withWindow,
  withoutEntries,
} from './window-rules.js';
import type { StoredWindow, Windows } from './windows.js';
import type { WindowEntry } from '../change-sets/window-part.js';

type Records = ReadonlyMap<string, SemaphoreRecord>;
type Request = ReturnType<typeof parseMaintenanceRequest>;

interface Author {
  readonly by: string;
  readonly reason?: string;
}

/** The window when it is in the record, and the semaphores as they were then. */
interface Opened {
  readonly window: StoredWindow;
  readonly shared: readonly WindowEntry[];
  readonly matching: readonly string[];
  readonly records: Records;
}

/**
 * Starts or continues a window:
 *
 *   1. look at all semaphores
 *   2. list the window, and what other windows have paused (compare-and-set; again from 1 if another window changed)
 *   3. list a batch of semaphores that are to be paused (compare-and-set), and their pauses as changes of the window
 *   4. pause them, one by one
 *   5. drop from the list those that another change paused meanwhile; the window is on if none is left (compare-and-set)
 *
 * A process may die after any step: the same call continues, and an end finds each pause in the list.
 */
export class WindowStart {
  constructor(
    private readonly windows: Windows,
    private readonly sets: ChangeSets,
    private readonly writer: DefinitionWriter,
    private readonly context: Context,
    private readonly by: {
      readonly listing: SemaphoreListing;
      readonly matching: (patterns: readonly string[], names: readonly string[]) => Promise<string[]>;
      readonly note: (window: string, author: Author) => void;
      /** Lists the resumes of a window. */
      readonly listEnd: (
        window: StoredWindow,
        entries: readonly WindowEntry[],
        author: Author,
      ) => Promise<readonly ListedChange[]>;
    },
  ) {}

  async start(request: Request): Promise<MaintenanceStart> {
    const author = this.writer.author(request);
    const opened = await this.#open(request, author);
    return afterWrite(() => this.#pause(request, author, opened));
  }

  /** Steps 3 to 5. */
  async #pause(request: Request, author: Author, opened: Opened): Promise<MaintenanceStart> {
    const { limit, onPlanned } = request;
    const { window, matching, records } = opened;
    const due = dueNames(window, matching, records);
    const batch = due.slice(0, limit);
    onPlanned?.(batch.length);
    const listed = await this.#list(window, batch, records);
    const parts = partsOf(await this.#listChanges(window, listed, records));
    const paused = new Map<string, WindowEntry>();
    const others = new Map<string, SemaphoreRecord | undefined>();
    const pauses = { by: author.by, reason: pauseReason(request.window, request.reason) };
    const failures = await eachWhileAnswered(listed, this.context, async (entry) => {
      const outcome = await pauseEntry(this.writer, entry, pauses, { bulk: window.id, part: parts.get(entry[0]) });
      if ('entry' in outcome) paused.set(entry[0], outcome.entry);
      else others.set(entry[0], outcome.other);
    });
    const failed = [...failures].map(([[name], error]) => ({ name, error: messageOf(error) }));
    const remaining = due.length - paused.size - others.size - failed.length;
    const settled = await this.#settle(window, { paused, others, isOver: remaining + failed.length === 0 });
    if (!settled) await this.#takeBack(window, [...paused.values()], pauses.by);
    const shared = [...opened.shared, ...(settled ?? [])].map(([name]) => name).toSorted();
    const ours = window.entries.filter((entry) => isOurs(entry, records.get(entry[0])));
    const isHeld = new Set([...ours.map(([name]) => name), ...due, ...shared]);
    const listedBefore = new Set(window.entries.map(([name]) => name));
    return {
      paused: [...paused.keys()].toSorted(),
      shared,
      left: [
        ...leftOf(matching, records, isHeld, listedBefore),
        ...leftOf([...others.keys()], others, new Set(shared)),
      ],
      failed,
      remaining,
      bulk: window.id,
    };
  }

  /** Steps 1 and 2. @throws NothingMatchesError, MaintenanceConflictError */
  async #open({ window: name, names: patterns, only }: Request, author: Author): Promise<Opened> {
    const id = this.context.random.id();
    for (;;) {
      const seen = stateOfOthers(await this.windows.read(), name);
      const { records } = await this.by.listing.listChangeable(only ?? (() => true));
      const defined = [...records].flatMap(([each, { definition }]) => (definition ? [each] : []));
      const matching = await this.by.matching(patterns, defined);
      if (matching.length === 0) throw new NothingMatchesError(patterns.join(' '));
      const opened = await this.windows.change((windows, now) => {
        // If another window changed meanwhile, it may have resumed what this node has seen paused.
        if (stateOfOthers(windows, name) !== seen) return { result: undefined };
        const all = withWindow(windows, { id, name, patterns, since: now, ...author }, only !== undefined);
        const window = all.find((each) => each.name === name)!;
        const { shared, ending } = sharedEntries(window, all, matching, records);
        if (ending !== undefined) throw new MaintenanceConflictError(ending, STILL_ENDING);
        const next = { ...window, entries: [...window.entries, ...shared] };
        const done = () => {
          if (window.id === id) this.by.note(name, author);
        };
        return { windows: replaced(all, next), result: { window: next, shared, matching, records }, done };
      });
      if (opened) return opened;
    }
  }

  /** Step 3. @throws MaintenanceConflictError if the window was ended meanwhile */
  async #list({ id, name }: StoredWindow, names: readonly string[], records: Records): Promise<WindowEntry[]> {
    if (names.length === 0) return [];
    const wanted = new Set(names);
    const entries = names.map((each) => [each, records.get(each)!.revision + 1, this.context.random.id()] as const);
    return this.windows.change((windows) => {
      const window = windows.find((each) => each.id === id && each.phase !== 'ending');
      if (!window) throw new MaintenanceConflictError(name, ENDED);
      const next = withEntries(window, entries);
      return { windows: replaced(windows, next), result: next.entries.filter(([each]) => wanted.has(each)) };
    });
  }

  #listChanges(
    window: StoredWindow,
    entries: readonly WindowEntry[],
    records: Records,
  ): Promise<readonly ListedChange[]> {
    const { id, by, reason } = window;
    const planned = entries.map(([name, , change]) => ({
      name,
      action: 'pause' as const,
      record: records.get(name),
      change,
    }));
    return this.sets.list({ id, kind: 'window', by, reason }, planned);
  }

  /** Step 5. @returns entries that another window paused a moment ago; undefined if the window was ended meanwhile */
  #settle(
    { id }: StoredWindow,
    {
      paused,
      others,
      isOver,
    }: {
      readonly paused: ReadonlyMap<string, WindowEntry>;
      readonly others: ReadonlyMap<string, SemaphoreRecord | undefined>;
      readonly isOver: boolean;
    },
  ): Promise<readonly WindowEntry[] | undefined> {
    return this.windows.change<readonly WindowEntry[] | undefined>((windows) => {
      const window = windows.find((each) => each.id === id && each.phase !== 'ending');
      if (!window) return { result: undefined };
      const kept = withEntries(withoutEntries(window, new Set(others.keys())), [...paused.values()]);
      const { shared } = sharedEntries(kept, windows, [...others.keys()], readable(others));
      const phase = isOver ? 'on' : 'starting';
      const next = { ...kept, phase, entries: [...kept.entries, ...shared] } as const;
      return { windows: replaced(windows, next), result: shared };
    });
  }

  /** Resumes what this call paused after another operator had ended the window. */
  async #takeBack(window: StoredWindow, entries: readonly WindowEntry[], by: string): Promise<never> {
    const { id, name } = window;
    const author = { by, reason: `maintenance ${show(name)} was ended while it started` };
    const parts = partsOf(await this.by.listEnd(window, entries, author));
    await eachWhileAnswered(entries, this.context, async (entry) => {
      await resumeEntry(this.writer, entry, author, { bulk: setOfEnd(id), part: parts.get(entry[0]) });
    });
    throw new MaintenanceConflictError(name, ENDED);
  }
}

const ENDED = 'was ended while it started, so what it paused runs again: start it again if you want it';
const STILL_ENDING = 'is ending, and has not resumed all of these semaphores yet: end it completely before this start';

/**
 * Names that the window does not hold, each with the change that paused it before or that came after its pause.
 *
 * @param listed names that the window had paused
 */
function leftOf(
  names: readonly string[],
  records: ReadonlyMap<string, SemaphoreRecord | undefined>,
  held: ReadonlySet<string>,
  listed: ReadonlySet<string> = new Set(),
): LeftAlone[] {
  return names.flatMap((name) => {
    const record = records.get(name);
    if (held.has(name)) return [];
    return [{ name, why: record?.pause && !listed.has(name) ? pausedBefore(record.pause) : whyLeft(record) }];
  });
}

function pausedBefore({ by, at, reason }: NonNullable<SemaphoreRecord['pause']>): string {
  const why = reason === undefined ? '' : `: ${reason}`;
  return `was paused before, by ${show(by)} at ${new Date(at).toISOString()}${why}`;
}

function readable(records: ReadonlyMap<string, SemaphoreRecord | undefined>): Map<string, SemaphoreRecord> {
  return new Map([...records].flatMap(([name, record]) => (record ? [[name, record] as const] : [])));
}
