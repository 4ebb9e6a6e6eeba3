import type { SemaphoreDefinition } from './definition.js';
import type { StoredPermit } from './permit.js';
import type { DefinitionChange, DefinitionSource, Pause } from './record.js';
import { hashOf } from './texts/hash-of.js';

/** One name in its shard. */
export interface NameEntry {
  readonly revision: number;
  readonly permits: readonly StoredPermit[];
  /** An operator's definition. If absent, the permits' own durations apply. */
  readonly definition?: SemaphoreDefinition;
  /** As in a record of its own: `code` after a reset. */
  readonly source?: DefinitionSource;
  readonly fingerprint?: string;
  readonly change?: DefinitionChange;
  readonly pause?: Pause;
}

/** Writes the text of one entry. Always the same function, because its texts are kept. */
type WriteEntry = (name: string, entry: NameEntry) => string;

/** @param before undefined for a new name @param after undefined for one that has gone */
type OnChange = (name: string, before: NameEntry | undefined, after: NameEntry | undefined) => void;

/** Largest average number of names on a page. */
const MOST_PER_PAGE = 8;
/** Names of a page from which on a map is faster than a search. */
const LARGE_PAGE = 32;
/** Factor between numbers of pages; a power of two. */
const SPREAD = 4;
/** All names of a shard have the same lowest 9 bits of their hash, because there are 512 shards. */
const SHARD_BITS = 9;

/** A name on its page. */
class Named {
  #text?: string;
  #isInOnePiece = false;
  /** See {@link ShardNames.firstEnd}. */
  readonly firstEnd: number;

  constructor(
    readonly name: string,
    readonly entry: NameEntry,
  ) {
    this.firstEnd = firstEndOf(entry);
  }

  text(write: WriteEntry): string {
    if (this.#text === undefined) return (this.#text = write(this.name, this.entry));
    // A text of a template is put together anew each time that it is copied. A name that comes and goes is used once.
    if (!this.#isInOnePiece) this.#text = ['', this.#text].join('');
    this.#isInOnePiece = true;
    return this.#text;
  }
}

/** Some names of a shard. Immutable. */
class Page {
  #text?: string;
  readonly firstEnd: number;

  constructor(readonly named: readonly Named[]) {
    let first = Infinity;
    for (const { firstEnd } of named) first = Math.min(first, firstEnd);
    this.firstEnd = first;
  }

  find(name: string): Named | undefined {
    for (const named of this.named) if (named.name === name) return named;
    return undefined;
  }

  /** @param former in the place of which `next` comes */
  with(next: Named, former?: Named): Page {
    return new Page(former ? this.named.map((named) => (named === former ? next : named)) : [...this.named, next]);
  }

  without(former: Named): Page {
    return new Page(this.named.filter((named) => named !== former));
  }

  eachChange(former: Page, change: OnChange): void {
    const [before, now] = [former.#finder(), this.#finder()];
    for (const named of former.named) {
      const next = now(named.name);
      // Shared by the versions of this process, so that most names need no comparison of texts.
      if (next !== named) change(named.name, named.entry, next?.entry);
    }
    for (const { name, entry } of this.named) if (!before(name)) change(name, undefined, entry);
  }

  /** A page is large if callers chose names with such hashes: then each name must not be searched for. */
  #finder(): (name: string) => Named | undefined {
    if (this.named.length <= LARGE_PAGE) return (name) => this.find(name);
    const all = new Map(this.named.map((named) => [named.name, named]));
    return (name) => all.get(name);
  }

  text(write: WriteEntry): string {
    if (this.#text === undefined) {
      let text = '';
      for (const named of this.named) text += (text && ',') + named.text(write);
      this.#text = text;
    }
    return this.#text;
  }
}

/**
 * The names of one shard, on small pages. Immutable: a change copies the page of its name and shares all others.
 *
 *     former   [ page 0 | page 1  | page 2 | page 3 ]
 *                  │                  │        │         with('order-123', entry)
 *     next     [ page 0 | page 1' | page 2 | page 3 ]
 *
 * Each page keeps the text of its names and the end of the permit that ends first. So a write finds the shard's next
 * text, what has ended, and what has changed without a look at every name: a name beside 500 idle ones costs hardly more
 * than a name alone.
 */
export class ShardNames {
  static readonly NONE = new ShardNames([new Page([])], 0);

  private constructor(
    private readonly pages: readonly Page[],
    readonly size: number,
  ) {}

  /** @param entries each name at most once */
  static of(entries: Iterable<readonly [string, NameEntry]>): ShardNames {
    return ShardNames.#spread(Array.from(entries, ([name, entry]) => new Named(name, entry)));
  }

  static #spread(all: readonly Named[]): ShardNames {
    let count = 1;
    while (all.length > MOST_PER_PAGE * count) count *= SPREAD;
    return all.length === 0 ? ShardNames.NONE : ShardNames.#spreadOver(count, all);
  }

  static #spreadOver(count: number, all: readonly Named[]): ShardNames {
    const pages = Array.from({ length: count }, (): Named[] => []);
    for (const named of all) pages[placeOf(named.name, count)]!.push(named);
    const made = pages.map((page) => new Page(page));
    return new ShardNames(made, all.length);
  }

  get(name: string): NameEntry | undefined {
    return this.#find(name)?.entry;
  }

  has(name: string): boolean {
    return this.#find(name) !== undefined;
  }

  /** Adds or replaces a name. */
  with(name: string, entry: NameEntry): ShardNames {
    const former = this.#find(name);
    const size = former ? this.size : this.size + 1;
    const next = new Named(name, entry);
    if (size > MOST_PER_PAGE * this.pages.length) return ShardNames.#spread([...this.#all(), next]);
    return this.#turned(name, size, (page) => page.with(next, former));
  }

  without(name: string): ShardNames {
    const former = this.#find(name);
    if (!former) return this;
    const size = this.size - 1;
    // Far below the size at which they were spread: a name that comes and goes must not move all others each time.
    if (size === 0) return ShardNames.NONE;
    if (size < this.pages.length) return ShardNames.#spread(this.#all().filter((named) => named !== former));
    return this.#turned(name, size, (page) => page.without(former));
  }

  /** When the first permit ends, in ms of cluster time. Infinity without permits, -Infinity with an entry without content. */
  get firstEnd(): number {
    let first = Infinity;
    for (const page of this.pages) first = Math.min(first, page.firstEnd);
    return first;
  }

  /** The texts of all entries, joined by commas. */
  text(write: WriteEntry): string {
    let text = '';
    for (const page of this.pages) if (page.named.length > 0) text += (text && ',') + page.text(write);
    return text;
  }

  /** Calls `change` for each name that is new, has gone, or whose entry may be another one. */
  eachChange(former: ShardNames, change: OnChange): void {
    const { length } = this.pages;
    const { pages } = former.pages.length === length ? former : ShardNames.#spreadOver(length, former.#all());
    for (let place = 0; place < length; place++) {
      if (this.pages[place] !== pages[place]) this.pages[place]!.eachChange(pages[place]!, change);
    }
  }

  *keys(): Generator<string> {
    for (const { name } of this.#all()) yield name;
  }

  *values(): Generator<NameEntry> {
    for (const { entry } of this.#all()) yield entry;
  }

  *[Symbol.iterator](): Generator<[string, NameEntry]> {
    for (const { name, entry } of this.#all()) yield [name, entry];
  }

  #all(): Named[] {
    return this.pages.flatMap(({ named }) => named);
  }

  #find(name: string): Named | undefined {
    return this.pages[placeOf(name, this.pages.length)]!.find(name);
  }

  #turned(name: string, size: number, turn: (page: Page) => Page): ShardNames {
    const pages = this.pages.slice();
    const place = placeOf(name, pages.length);
    pages[place] = turn(pages[place]!);
    return new ShardNames(pages, size);
  }
}

/** An entry without permits and definition counts as ended. */
function firstEndOf({ permits, definition }: NameEntry): number {
  if (permits.length === 0) return definition ? Infinity : -Infinity;
  let first = Infinity;
  for (const { expiresAt } of permits) first = Math.min(first, expiresAt);
  return first;
}

function placeOf(name: string, pages: number): number {
  return pages > 1 ? (hashOf(name) >>> SHARD_BITS) & (pages - 1) : 0;
}
