import type { MemberEntry, MemberPage, MembersReading } from '../../activity/index.js';
import type { ParticipantEntry, RegistryView } from './registry-view.js';
import { type RegistryPage, RegistryWatch } from './registry-watch.js';
import { Settling } from './settling.js';

/** Maximum number of incarnations that stay known after they are over. */
const MOST_KNOWN = 10_000;

/** An incarnation, as the registry last showed it. */
export interface KnownIncarnation {
  /** Name of the node. */
  readonly node: string;
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
 */
export class GroupRegistry {
  readonly #watch: RegistryWatch;
  readonly #settling = new Settling();
  #view: GroupView | undefined;
  /** The parts of each page that may change a decision, in the last reading. */
  #facts: readonly string[] = [];
  #isStale = false;
  /** Incarnations that this node has seen, also those that are over. */
  readonly #known = new Map<string, KnownIncarnation>();

  /** @param tolerance the largest difference of clocks, in ms */
  constructor(
    private readonly group: string,
    tolerance: number,
  ) {
    this.#watch = new RegistryWatch(tolerance);
  }

  /** By the last complete look at the members. */
  get view(): GroupView | undefined {
    return this.#view;
  }

  /** Whether a page has changed since then such that a decision may change. */
  get isStale(): boolean {
    return this.#isStale;
  }

  /** The node of an incarnation, also of one that is over. Its name is the incarnation's id if this node never saw it. */
  nodeOf(incarnation: string): KnownIncarnation {
    return this.#known.get(incarnation) ?? { node: incarnation, hasLeft: false };
  }

  /** Takes note of a new version of a page. It is no reading: only {@link observe} changes the view. */
  notice(place: number, page: MemberPage): void {
    this.#isStale ||= this.#factsOf(page) !== this.#facts[place];
  }

  /** @returns whether a decision may change, besides by the end of a lease */
  observe({ pages, ...times }: MembersReading): boolean {
    const newest = newestBeats(pages);
    this.#remember(pages);
    const former = this.#facts;
    this.#facts = pages.map((page) => this.#factsOf(page));
    this.#isStale = false;
    const view = this.#watch.observe({
      ...times,
      pages: pages.map((page) => page && this.#pageOf(page, newest)),
    });
    this.#settling.observe(view.living, (inc) => this.nodeOf(inc).hasLeft, view.readFrom);
    this.#view = { ...view, calmSince: this.#settling.since };
    return this.#facts.some((facts, place) => facts !== former[place]);
  }

  #remember(pages: MembersReading['pages']): void {
    if (this.#known.size > MOST_KNOWN) this.#known.clear();
    for (const { inc, acquirer: node, ended = false } of pages.flatMap((page) => page?.entries ?? [])) {
      this.#known.set(inc, { node, hasLeft: ended });
    }
  }

  /** Everything but the times of leases, which every heartbeat changes. */
  #factsOf(page: MemberPage | undefined): string {
    const facts = page?.entries.map(({ inc, ended, former, groups = [] }) => {
      const part = groups.find(({ group }) => group === this.group);
      return [inc, ended, former, part?.weight, part?.acked, part?.missing];
    });
    return JSON.stringify([page?.born, facts]);
  }

  #pageOf({ born, seq, entries }: MemberPage, newest: ReadonlyMap<string, number>): RegistryPage {
    // A node that could not read its page has an entry in another page, too.
    const present = entries.filter(({ inc, beat }) => newest.get(inc) === beat);
    const ended = present.filter((entry) => entry.ended).map(({ inc }) => inc);
    return {
      born,
      seq,
      entries: present.flatMap((entry) => (entry.ended ? [] : (participantIn(entry, this.group) ?? []))),
      ended: [...ended, ...present.flatMap(({ former }) => former ?? [])],
    };
  }
}

function newestBeats(pages: readonly (MemberPage | undefined)[]): Map<string, number> {
  const newest = new Map<string, number>();
  for (const { inc, beat } of pages.flatMap((page) => page?.entries ?? [])) {
    newest.set(inc, Math.max(beat, newest.get(inc) ?? 0));
  }
  return newest;
}

function participantIn(entry: MemberEntry, name: string): ParticipantEntry | undefined {
  const { inc, acquirer: node, beat, expiresAt, duration, groups = [] } = entry;
  const part = groups.find(({ group }) => group === name);
  return part && { inc, node, beat, expiresAt, duration, ...part };
}
