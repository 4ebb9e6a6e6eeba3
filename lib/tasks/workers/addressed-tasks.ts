import { Slices } from '../../core/async/slices.js';
import { Wakeup } from '../../core/async/wakeup.js';
import type { Context } from '../../core/context/context.js';
import type { TextEntry } from '../../core/store/index.js';
import type { AddressedWatch } from '../records/hints.js';
import { PRIORITIES, type Priority } from '../rules/task.js';
import { behindText } from '../../core/store/text-batches.js';
import { readableTask } from '../rules/task.codec.js';
import {
  ALL_ADDRESSED,
  type WaitingPlace,
  addressedPrefix,
  behindTarget,
  behindType,
  placeOfText,
} from '../rules/task-place.js';
import type { PacedStore } from '../records/paced-store.js';
import { isTarget } from '../rules/target.js';

/** ms between two looks. */
const INTERVAL = 1000;
/** ms for which the sweep's word that no addressed task waits saves a look: it comes about once a second. */
const FRESH = 1.5 * INTERVAL;
/** Targets and types that one look passes, at most. The next look goes on behind them. */
const STEPS = 100;
/** Tasks of one read for each free place: nodes of the same target should not all try the same ones. */
const CHOICE = 4;
const MOST_ROWS = 64;

/** Work of this node on a type. */
interface AddressedType {
  /** Tasks that it can begin now. */
  readonly room: () => number;
  /** Called when tasks were found. */
  readonly found: () => void;
}

interface Found {
  readonly priority: Priority;
  readonly text: string;
}

interface AddressedParts {
  readonly storage: Pick<PacedStore, 'range'>;
  readonly context: Context;
}

/**
 * The waiting tasks that are addressed to this node, among others. They have no hints, because another node might take
 * them. So each node looks for them about once a second, target by target:
 *
 *     target 1 (matches)  mail: a few tasks, import: a few tasks │ target 2 (does not) │ target 3 …
 *
 * A look costs one read for each target of others, and one for each type of a target that matches, whatever waits there. The
 * node that sweeps reads as often whether there are any, so it looks only if there are.
 */
export class AddressedTasks implements AddressedWatch {
  readonly #types = new Map<string, AddressedType>();
  readonly #found = new Map<string, Found[]>();
  readonly #wakeup: Wakeup;
  readonly #slices: Slices;
  /** Types of which more wait than were read, or than there was room for. */
  readonly #more = new Set<string>();
  #from = ALL_ADDRESSED.from;
  /** When the sweep of this node last read that none waits (monotonic ms); undefined if it has not, or has seen one since. */
  #noneAt: number | undefined;
  /** Monotonic ms. */
  #wokenAt = -Infinity;
  #loop?: Promise<void>;
  #isClosed = false;

  constructor(private readonly parts: AddressedParts) {
    this.#wakeup = new Wakeup(parts.context.nodeClock);
    this.#slices = Slices.of(parts.context.nodeClock);
  }

  /** @param type of the record */
  add(type: string, work: AddressedType): void {
    this.#types.set(type, work);
  }

  /** @param work that was added for the type: another one may have taken its place */
  remove(type: string, work: AddressedType): void {
    if (this.#types.get(type) === work) this.#types.delete(type);
  }

  /** Idempotent. */
  start(): void {
    this.#loop ??= this.#work();
  }

  /** Looks now. */
  readonly wake = (): void => {
    this.#wokenAt = this.#now;
    this.#noneAt = undefined;
    this.#wakeup.ring();
  };

  /** The first one that the sweep sees is looked for at once. */
  seen(isAny: boolean, at: number): void {
    if (isAny && this.#noneAt !== undefined) this.wake();
    // A task of this node that came after the read still needs its look.
    else if (!isAny && at > this.#wokenAt) {
      this.#noneAt = at;
      this.#wakeup.postpone(at + FRESH - this.#now);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.wake();
    await this.#loop;
  }

  /** Takes up to `most` tasks that the last look found. Does not ask the store. */
  take(type: string, priority: Priority, most: number): Found[] {
    const found = this.#found.get(type) ?? [];
    const taken = found.filter((each) => each.priority === priority).slice(0, Math.max(0, most));
    if (taken.length > 0) {
      this.#found.set(
        type,
        found.filter((each) => !taken.includes(each)),
      );
    }
    if (found.length === taken.length && this.#more.delete(type)) this.wake();
    return taken;
  }

  get #now(): number {
    return this.parts.context.nodeClock.monotonic();
  }

  /** Whether the sweep of this node has just seen that none waits. */
  get #isSaved(): boolean {
    return this.#noneAt !== undefined && this.#now - this.#noneAt < FRESH;
  }

  async #work(): Promise<void> {
    const { events, random } = this.parts.context;
    while (!this.#isClosed) {
      this.#wakeup.reset();
      const looking = this.#isSaved ? Promise.resolve() : this.#look();
      await looking.catch((error: unknown) => {
        if (!this.#isClosed) events.next({ type: 'problem', action: 'look for addressed tasks', error });
      });
      if (!this.#isClosed) await this.#wakeup.wait(INTERVAL * (0.9 + 0.2 * random.number()), false);
    }
  }

  async #look(): Promise<void> {
    const found = new Map<string, Found[]>();
    const { to } = ALL_ADDRESSED;
    this.#more.clear();
    for (let steps = 0; steps < STEPS && !this.#isClosed; steps++) {
      const [first] = await this.parts.storage.range(this.#from, to, 1);
      this.#from = first ? await this.#pass(first, found) : ALL_ADDRESSED.from;
      if (!first) break;
    }
    this.#found.clear();
    for (const [type, tasks] of found) this.#found.set(type, tasks);
    for (const type of found.keys()) this.#types.get(type)?.found();
  }

  /** @returns where the look goes on */
  async #pass({ text }: TextEntry, found: Map<string, Found[]>): Promise<string> {
    const place = placeOfText(text);
    const task = readableTask(text);
    // A newer version, or another program, may have written it.
    if (!place || !task?.to) return behindText(text);
    if (!isTarget(task.to, this.parts.context.node)) return behindTarget(place);
    const room = this.#types.get(place.type)?.room() ?? 0;
    if (room === 0) this.#more.add(place.type);
    // The bands before it are empty, or can't be read.
    for (const priority of PRIORITIES.slice(PRIORITIES.indexOf(place.priority))) {
      const tasks = found.get(place.type) ?? [];
      if (tasks.length >= room) break;
      const isAlone = task.to.instance !== undefined;
      const read = await this.#read({ ...place, priority }, room - tasks.length, isAlone);
      tasks.push(...read.tasks);
      if (tasks.length > 0) found.set(place.type, tasks);
      if (read.goOn !== undefined) return read.goOn;
    }
    return behindType(place);
  }

  /** @returns tasks that can be read, and where the look goes on if too few of these rows can be */
  async #read(place: WaitingPlace, most: number, isAlone: boolean): Promise<{ tasks: Found[]; goOn?: string }> {
    const prefix = addressedPrefix(place);
    const from = this.#from > prefix ? this.#from : prefix;
    const limit = Math.min(MOST_ROWS, isAlone ? most : most * CHOICE);
    const rows = await this.parts.storage.range(from, `${prefix}~`, limit);
    const begin = Math.floor(this.parts.context.random.number() * Math.max(1, rows.length - most + 1));
    const tasks: Found[] = [];
    for (const { text } of [...rows.slice(begin), ...rows.slice(0, begin)]) {
      if (tasks.length >= most) break;
      await this.#slices.turn(text.length);
      // A claim of another one fails each time, and would be tried again at once.
      if (readableTask(text)) tasks.push({ priority: place.priority, text });
    }
    if (tasks.length >= most) this.#more.add(place.type);
    return tasks.length < most && rows.length === limit ? { tasks, goOn: behindText(rows.at(-1)!.text) } : { tasks };
  }
}
