import type { GroupEntry, MemberPage, MembersReading, MemberEntry } from '../../core/members/index.js';
import type { ParticipantEntry, RegistryView } from './registry-view.js';
import { type RegistryPage, RegistryWatch } from './registry-watch.js';

/** Maximum number of incarnations that stay known after they are over. */
const MOST_KNOWN = 10_000;

/** An incarnation, as the registry last showed it. */
export interface KnownIncarnation {
  /** Name of the node. */
  readonly node: string;
  /** Id of its process; absent if this node never saw the incarnation. */
  readonly instance?: string;
  /** Whether the node ended its lease, because it shut down. */
  readonly hasLeft: boolean;
}

/** A {@link RegistryView}, and when another look is useful. */
export type GroupView = RegistryView & {
  /** ms until a lease may be over. */
  readonly nextChangeIn: number;
  /** This node's monotonic time at which it saw the last join, or the last leave of a node that shut down. */
  readonly calmSince: number;
};

/**
 * The membership as one group needs it. Every node watches it from its start, so that a new leader knows which entries
 * the store may have lost.
 *
 * A new reading is only kept at first: a node with many groups would take too long to examine all of its members for each
 * group at once. {@link catchUp} examines it, and so does the first answer that depends on it. So an answer is never older
 * than the last reading. If several readings come before that, only the last one counts, as if this node had read less
 * often.
 */
export class GroupRegistry {
  readonly #watch: RegistryWatch;
  readonly #calm = new LastMembershipChange();
  #view: GroupView | undefined;
  /** The parts of each page that may change a decision, in the last reading. */
  #facts: readonly string[] = [];
  #isStale = false;
  /** The nodes of the last reading, as text. */
  #nodes: string | undefined;
  /** Incarnations that this node has seen, also those that are over. */
  readonly #known = new Map<string, KnownIncarnation>();
  /** Pages of the last reading. Pages never change, so the same object has the same entries. */
  #pages: MembersReading['pages'] = [];
  /** A reading that the group has not looked at. */
  #reading: MembersReading | undefined;
  /** Pages that have changed since then, by their places. */
  readonly #noticed = new Map<number, MemberPage>();
  /** Whether a decision may change because of something that came since the last {@link catchUp}. */
  #hasChanged = false;

  /** @param tolerance the largest difference of clocks, in ms */
  constructor(
    private readonly group: string,
    tolerance: number,
  ) {
    this.#watch = new RegistryWatch(tolerance);
  }

  /** By the last complete look at the members. */
  get view(): GroupView | undefined {
    this.#look();
    return this.#view;
  }

  /** Whether a page has changed since then such that a decision may change. */
  get isStale(): boolean {
    this.#look();
    return this.#isStale;
  }

  /** The node of an incarnation, also of one that is over. Its name is the incarnation's id if this node never saw it. */
  nodeOf(incarnation: string): KnownIncarnation {
    this.#look();
    return this.#nodeOf(incarnation);
  }

  /** Takes note of a new version of a page. It is no reading: only {@link observe} changes the view. */
  notice(place: number, page: MemberPage): void {
    this.#noticed.set(place, page);
  }

  /**
   * Takes a reading of all pages. It has what was noticed before.
   *
   * @returns whether {@link catchUp} is needed. A reading of the same pages brings new times only, for the next answer
   */
  observe(reading: MembersReading): boolean {
    if (this.#reading && !isGoingOn(this.#reading, reading)) this.#look();
    this.#reading = reading;
    const { pages } = reading;
    const isSame = this.#noticed.size === 0 && pages.every((page, place) => page === this.#pages[place]);
    this.#noticed.clear();
    this.#pages = pages;
    return !isSame || this.#isStale;
  }

  /** Looks at all that came. @returns whether a decision may change, besides by the end of a lease */
  catchUp(): boolean {
    this.#look();
    const hasChanged = this.#hasChanged;
    this.#hasChanged = false;
    return hasChanged;
  }

  #look(): void {
    const reading = this.#reading;
    this.#reading = undefined;
    if (reading) this.#examine(reading);
    for (const [place, page] of this.#noticed) {
      this.#isStale ||= this.#factsOf(page) !== this.#facts[place];
      this.#hasChanged ||= this.#isStale;
    }
    this.#noticed.clear();
  }

  #examine({ pages, ...times }: MembersReading): void {
    this.#remember(pages);
    const former = this.#facts;
    this.#facts = pages.map((page) => this.#factsOf(page));
    this.#isStale = false;
    const view = this.#watch.observe({ ...times, pages: this.#pagesOf(pages) });
    this.#calm.observe(view.living, (inc) => this.#nodeOf(inc).hasLeft, view.readFrom);
    this.#view = { ...view, calmSince: this.#calm.since };
    this.#hasChanged ||= this.#facts.some((facts, place) => facts !== former[place]);
  }

  #nodeOf(incarnation: string): KnownIncarnation {
    return this.#known.get(incarnation) ?? { node: incarnation, hasLeft: false };
  }

  #remember(pages: MembersReading['pages']): void {
    const nodes = pages.map((page) => page && indexOf(page).nodes).join('\n');
    if (nodes === this.#nodes) return;
    this.#nodes = nodes;
    if (this.#known.size > MOST_KNOWN) this.#known.clear();
    for (const { inc, acquirer: node, instance, ended = false } of pages.flatMap((page) => page?.entries ?? [])) {
      this.#known.set(inc, { node, instance, hasLeft: ended });
    }
  }

  /** Everything but the times of leases and the order of entries, which every heartbeat changes. */
  #factsOf(page: MemberPage | undefined): string {
    if (!page) return '';
    const { nodes, byGroup } = indexOf(page);
    const facts = (byGroup.get(this.group) ?? []).map(({ entry, part }) =>
      JSON.stringify([entry.inc, part.weight, part.acked, part.missing, ...decidingFacts(part)]),
    );
    return `${nodes}\n${facts.toSorted().join('\n')}`;
  }

  #pagesOf(pages: MembersReading['pages']): (RegistryPage | undefined)[] {
    const { newest, ended } = indexOfReading(pages);
    return pages.map((page, place) => {
      if (!page) return undefined;
      const present = (indexOf(page).byGroup.get(this.group) ?? []).filter(
        ({ entry }) => !entry.ended && newest.get(entry.inc) === entry.beat,
      );
      return { born: page.born, seq: page.seq, entries: present.map(participantOf), ended: ended[place]! };
    });
  }
}

/**
 * Monotonic time of the last join or clean leave of a participant, so that a rolling deploy does not move resources again
 * and again. A lease that runs out counts for nothing: its node has been gone for a lease already, and its resources
 * need an owner at once.
 */
export class LastMembershipChange {
  #since = -Infinity;
  #living: ReadonlyMap<string, ParticipantEntry> | undefined;

  /** ms of this node's monotonic clock. */
  get since(): number {
    return this.#since;
  }

  /** @param hasLeft whether the node of an incarnation ended its lease itself  @param at monotonic ms */
  observe(living: ReadonlyMap<string, ParticipantEntry>, hasLeft: (inc: string) => boolean, at: number): void {
    const former = this.#living;
    this.#living = living;
    const hasJoined = [...living.keys()].some((inc) => !former?.has(inc));
    if (hasJoined || [...(former?.keys() ?? [])].some((inc) => !living.has(inc) && hasLeft(inc))) this.#since = at;
  }
}

/** Whether no page was lost, or went back, from one reading to the next. Else what the former one showed must be remembered. */
function isGoingOn(former: MembersReading, next: MembersReading): boolean {
  return next.pages.every((page, place) => {
    const before = former.pages[place];
    return page?.born === before?.born && (page?.seq ?? 0) >= (before?.seq ?? 0);
  });
}

/** Facts that choose the deciding node or settle a doubt. A digest counts only while there is a doubt. */
function decidingFacts({ digest, yields, problem, doubts }: GroupEntry): unknown[] {
  return [digest !== undefined, yields === true, problem !== undefined, doubts && digest];
}

function participantOf({ entry, part }: GroupMember): ParticipantEntry {
  const { inc, acquirer: node, instance, startedAt, beat, expiresAt, duration } = entry;
  return { inc, node, instance, startedAt, beat, expiresAt, duration, ...part };
}

/** A node's entry, and its part in one group. */
interface GroupMember {
  readonly entry: MemberEntry;
  readonly part: GroupEntry;
}

interface PageIndex {
  /** The nodes of the page, and whether they have left: what concerns all groups, and no heartbeat changes. */
  readonly nodes: string;
  readonly byGroup: ReadonlyMap<string, readonly GroupMember[]>;
}

interface ReadingIndex {
  /** The newest beat of each incarnation. */
  readonly newest: ReadonlyMap<string, number>;
  /** Incarnations that their nodes have given up, by the place of their page. */
  readonly ended: readonly (readonly string[])[];
}

// Pages and readings never change, and all groups of a node see the same ones. Without an index each group would search
// the entries of all groups.
const pages = new WeakMap<MemberPage, PageIndex>();
const readings = new WeakMap<MembersReading['pages'], ReadingIndex>();

/** The index of a page, made once for all groups. */
function indexOf(page: MemberPage): PageIndex {
  return pages.get(page) ?? kept(pages, page, indexedPage(page));
}

/** The index of a reading, made once for all groups. */
function indexOfReading(reading: MembersReading['pages']): ReadingIndex {
  return readings.get(reading) ?? kept(readings, reading, indexedReading(reading));
}

function kept<Key extends object, Value>(map: WeakMap<Key, Value>, key: Key, value: Value): Value {
  map.set(key, value);
  return value;
}

function indexedPage({ born, entries }: MemberPage): PageIndex {
  const byGroup = new Map<string, GroupMember[]>();
  for (const entry of entries) {
    for (const part of entry.groups ?? []) {
      const members = byGroup.get(part.group);
      if (!members) byGroup.set(part.group, [{ entry, part }]);
      // If an entry has a group twice, its first part counts.
      else if (members.at(-1)!.entry !== entry) members.push({ entry, part });
    }
  }
  const nodes = entries.map(({ inc, ended, former }) => JSON.stringify([inc, ended, former]));
  return { nodes: JSON.stringify([born, nodes.toSorted()]), byGroup };
}

function indexedReading(reading: MembersReading['pages']): ReadingIndex {
  const newest = new Map<string, number>();
  for (const { inc, beat } of reading.flatMap((page) => page?.entries ?? [])) {
    newest.set(inc, Math.max(beat, newest.get(inc) ?? 0));
  }
  const ended = reading.map((page) => {
    // A node that could not read its page has an entry in another page, too.
    const present = page?.entries.filter(({ inc, beat }) => newest.get(inc) === beat) ?? [];
    const left = present.filter((entry) => entry.ended).map(({ inc }) => inc);
    return [...left, ...present.flatMap(({ former }) => former ?? [])];
  });
  return { newest, ended };
}
