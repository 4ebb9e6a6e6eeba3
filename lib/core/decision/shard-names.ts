import type { SemaphoreDefinition, StoredPermit, DefinitionChange, Pause } from './answers.js';
import type { DefinitionSource } from './change-kinds.js';
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

/** Names that one leaf may have. More only if their hashes are the same. */
const MOST_IN_LEAF = 8;
/** Names of a branch that become one leaf again. So few that a name that comes and goes does not move the others each time. */
const FEW = 4;
/** Number of names from which on a map is faster than a search. */
const MANY = 32;
/** All names of a shard have the same lowest 9 bits of their hash, because there are 512 shards. The others are its path. */
const SHARD_BITS = 9;
const PATH_BITS = 32 - SHARD_BITS;

/** A name in its leaf. */
class Named {
  #text?: string;
  #isInOnePiece = false;
  readonly path: number;
  /** See {@link ShardNames.firstEnd}. */
  readonly firstEnd: number;

  constructor(
    readonly name: string,
    readonly entry: NameEntry,
  ) {
    this.path = pathOf(name);
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

/** A part of the tree. Immutable. `depth` is the number of its ancestors, and so the bit of the paths that divides it. */
type Part = Leaf | Branch;

/** A few names. */
class Leaf {
  #text?: string;
  readonly size: number;
  readonly firstEnd: number;

  constructor(readonly all: readonly Named[]) {
    this.size = all.length;
    let first = Infinity;
    for (const { firstEnd } of all) first = Math.min(first, firstEnd);
    this.firstEnd = first;
  }

  find(name: string, path: number): Named | undefined {
    return namedIn(this.all, name, path);
  }

  /** @param former in the place of which `next` comes */
  with(next: Named, former: Named | undefined, depth: number): Part {
    if (former) return new Leaf(this.all.map((named) => (named === former ? next : named)));
    return partOf([...this.all, next], depth);
  }

  without(former: Named): Part {
    return this.size === 1 ? NO_NAMES : new Leaf(this.all.filter((named) => named !== former));
  }

  text(write: WriteEntry): string {
    if (this.#text === undefined) {
      let text = '';
      for (const named of this.all) text += (text && ',') + named.text(write);
      this.#text = text;
    }
    return this.#text;
  }
}

/** The names whose next bit is 0, and those whose next bit is 1. */
class Branch {
  #text?: string;
  readonly size: number;
  readonly firstEnd: number;

  constructor(
    readonly zero: Part,
    readonly one: Part,
  ) {
    this.size = zero.size + one.size;
    this.firstEnd = Math.min(zero.firstEnd, one.firstEnd);
  }

  get all(): readonly Named[] {
    return [...this.zero.all, ...this.one.all];
  }

  find(name: string, path: number, depth: number): Named | undefined {
    return (isOne(path, depth) ? this.one : this.zero).find(name, path, depth + 1);
  }

  with(next: Named, former: Named | undefined, depth: number): Part {
    return isOne(next.path, depth)
      ? new Branch(this.zero, this.one.with(next, former, depth + 1))
      : new Branch(this.zero.with(next, former, depth + 1), this.one);
  }

  without(former: Named, depth: number): Part {
    if (this.size - 1 <= FEW) return new Leaf(this.all.filter((named) => named !== former));
    return isOne(former.path, depth)
      ? new Branch(this.zero, this.one.without(former, depth + 1))
      : new Branch(this.zero.without(former, depth + 1), this.one);
  }

  text(write: WriteEntry): string {
    if (this.#text === undefined) {
      const [zero, one] = [this.zero.text(write), this.one.text(write)];
      this.#text = zero && one ? `${zero},${one}` : zero || one;
    }
    return this.#text;
  }
}

const NO_NAMES = new Leaf([]);

/** The one change that made a version from another. Names that one by its number: a reference would keep all versions alive. */
interface MadeBy {
  readonly version: number;
  readonly name: string;
  readonly before: NameEntry | undefined;
  readonly after: NameEntry | undefined;
}

/** Number of versions that this process has made. */
let versions = 0;

/**
 * The names of one shard, in a binary tree by their hashes. Immutable: a change copies the path to its name and shares all
 * other parts.
 *
 *     former    ∙             next    ∙'          next = former.with('order-123', entry)
 *             /   \                 /   \
 *           ∙      [3]            ∙'     [3]
 *         /   \                 /   \
 *       [1]   [2]             [1]   [2']
 *
 * Each part keeps the text of its names and the end of the permit that ends first. So a write finds the shard's next
 * text, what has ended, and what has changed without a look at every name: a name beside 500 idle ones costs hardly more
 * than a name alone.
 */
export class ShardNames {
  static readonly NONE = new ShardNames(NO_NAMES);
  readonly #version = ++versions;

  private constructor(
    private readonly root: Part,
    private readonly madeBy?: MadeBy,
  ) {}

  /** @param entries each name at most once */
  static of(entries: Iterable<readonly [string, NameEntry]>): ShardNames {
    return new ShardNames(
      partOf(
        Array.from(entries, ([name, entry]) => new Named(name, entry)),
        0,
      ),
    );
  }

  get size(): number {
    return this.root.size;
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
    const origin = { version: this.#version, name, before: former?.entry, after: entry };
    return new ShardNames(this.root.with(new Named(name, entry), former, 0), origin);
  }

  without(name: string): ShardNames {
    const former = this.#find(name);
    if (!former) return this;
    const origin = { version: this.#version, name, before: former.entry, after: undefined };
    return new ShardNames(this.root.without(former, 0), origin);
  }

  /** When the first permit ends, in ms of cluster time. Infinity without permits, -Infinity with an entry without content. */
  get firstEnd(): number {
    return this.root.firstEnd;
  }

  /** The texts of all entries, joined by commas. */
  text(write: WriteEntry): string {
    return this.root.text(write);
  }

  /** Calls `change` for each name that is new, has gone, or whose entry may be another one. */
  eachChange(former: ShardNames, change: OnChange): void {
    const { madeBy: origin } = this;
    if (origin?.version === former.#version) change(origin.name, origin.before, origin.after);
    else eachChange(former.root, this.root, change);
  }

  *keys(): Generator<string> {
    for (const { name } of this.root.all) yield name;
  }

  *values(): Generator<NameEntry> {
    for (const { entry } of this.root.all) yield entry;
  }

  *[Symbol.iterator](): Generator<[string, NameEntry]> {
    for (const { name, entry } of this.root.all) yield [name, entry];
  }

  #find(name: string): Named | undefined {
    return this.root.find(name, pathOf(name), 0);
  }
}

function partOf(all: readonly Named[], depth: number): Part {
  if (all.length <= MOST_IN_LEAF || depth === PATH_BITS) return new Leaf(all);
  const zero = all.filter(({ path }) => !isOne(path, depth));
  const one = all.filter(({ path }) => isOne(path, depth));
  return new Branch(partOf(zero, depth + 1), partOf(one, depth + 1));
}

function eachChange(former: Part, next: Part, change: OnChange): void {
  if (former === next) return;
  if (former instanceof Branch && next instanceof Branch) {
    eachChange(former.zero, next.zero, change);
    eachChange(former.one, next.one, change);
    return;
  }
  const [before, now] = [former.all, next.all];
  const [namesBefore, namesNow] = [byName(before), byName(now)];
  for (const named of before) {
    const found = namesNow ? namesNow.get(named.name) : namedIn(now, named.name, named.path);
    // Shared by the versions of this process, so that most names need no comparison of texts.
    if (found !== named) change(named.name, named.entry, found?.entry);
  }
  for (const named of now) {
    const isOld = namesBefore ? namesBefore.has(named.name) : namedIn(before, named.name, named.path) !== undefined;
    if (!isOld) change(named.name, undefined, named.entry);
  }
}

/** A leaf is large if callers chose names with such hashes: then each name must not be searched for. */
function byName(all: readonly Named[]): ReadonlyMap<string, Named> | undefined {
  return all.length > MANY ? new Map(all.map((named) => [named.name, named])) : undefined;
}

function namedIn(all: readonly Named[], name: string, path: number): Named | undefined {
  for (const named of all) if (named.path === path && named.name === name) return named;
  return undefined;
}

/** An entry without permits and definition counts as ended. */
function firstEndOf({ permits, definition }: NameEntry): number {
  if (permits.length === 0) return definition ? Infinity : -Infinity;
  let first = Infinity;
  for (const { expiresAt } of permits) first = Math.min(first, expiresAt);
  return first;
}

function pathOf(name: string): number {
  return hashOf(name) >>> SHARD_BITS;
}

function isOne(path: number, depth: number): boolean {
  return ((path >>> depth) & 1) === 1;
}
