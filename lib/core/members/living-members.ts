import type { Context } from '../context/context.js';
import { graceIn } from '../decision/index.js';
import type { Participant } from '../context/participant.js';
import { isUnreadable } from '../cell/known-record.js';
import { type MemberEntry, type MemberPage, entryIn, leaseOf } from './member-page.js';
import type { PageCell } from './member-pages.js';

/** A change of the members, as a node notices it. `rejoined`: with a new lease, because the former one had lapsed. */
export type MemberChange = 'joined' | 'left' | 'crashed' | 'rejoined';

interface Living {
  readonly entry: MemberEntry;
  readonly participant: Participant;
  readonly page: PageCell;
  /** Lineage of the page that showed it. */
  readonly born: string;
  /** Monotonic ms at which the lease is surely over: it was written before this node first saw it, or missed it. */
  readonly until: number;
  /** Whether its page did not show it after its end. A lost page may have lost a renewal that this node never saw. */
  readonly isMissing?: true;
}

/**
 * The other nodes that this node believes to be alive. A node that leaves says so in its entry. A node counts as
 * crashed when its lease is over by the rules for permits, in a page that was read after that. An entry that a restored
 * page lacks, or that stands in a page that can't be read, proves nothing, until that has lasted for a whole lease. The
 * same holds for the grace of a restored page.
 */
export class LivingMembers {
  readonly #living = new Map<string, Living>();
  /** Crashed entries by incarnation, while they stay in their page. A later beat would prove a judgement wrong. */
  readonly #crashed = new Map<string, Living>();
  #judgesFrom = -Infinity;

  constructor(
    private readonly context: Context,
    private readonly onChange: (change: MemberChange, member: Participant, incarnation: string) => void,
  ) {}

  get participants(): Participant[] {
    return [...this.#living.values()].map(({ participant }) => participant);
  }

  /** ms until the next lease may be over; Infinity if there are no others. */
  get untilNextEnd(): number {
    return Math.min(Infinity, ...[...this.#living.values()].map((living) => this.#remaining(living)));
  }

  /** Judges no lease before that (monotonic ms): after an outage, all nodes need time to renew their leases. */
  judgeFrom(at: number): void {
    this.#judgesFrom = at;
  }

  /** Takes in a new version of a page. */
  update(page: PageCell, { entries, born }: MemberPage): void {
    const listed = new Set(entries.map(({ inc }) => inc));
    for (const [inc, { page: where }] of this.#crashed) {
      if (where === page && !listed.has(inc)) this.#crashed.delete(inc);
    }
    for (const entry of entries) if (entry.instance !== this.context.node.instance) this.#take(page, born, entry);
  }

  /**
   * Finds the leases that are over, by a page that is read after their end.
   *
   * @throws StoreUnavailableError
   */
  async judge(): Promise<void> {
    const suspects = [...this.#living.values()].filter((living) => this.#remaining(living) <= 0);
    for (const page of new Set(suspects.map(({ page }) => page))) {
      const ofPage = suspects.filter((suspect) => suspect.page === page);
      const began = this.context.nodeClock.monotonic();
      const expired = await readExpired(page, ofPage);
      // A renewal that was read meanwhile replaced the object.
      const unchanged = ofPage.filter((suspect) => this.#living.get(suspect.entry.instance) === suspect);
      for (const suspect of unchanged) this.#decide(suspect, expired.get(suspect.entry.inc), began);
    }
  }

  /** @param isOver undefined if the page does not show the entry; then its absence must last for a whole lease */
  #decide(suspect: Living, isOver: boolean | undefined, readAt: number): void {
    const { entry, isMissing, until } = suspect;
    if (isOver ?? (isMissing && readAt >= until)) this.#crash(entry);
    else if (isOver === undefined && !isMissing) {
      this.#living.set(entry.instance, { ...suspect, isMissing: true, until: this.#endOf(entry) });
    }
  }

  #take(page: PageCell, born: string, entry: MemberEntry): void {
    const known = this.#living.get(entry.instance);
    const last = known ?? this.#crashed.get(entry.inc);
    if (last && last.entry.beat >= entry.beat) return;
    if (entry.ended) {
      if (known) this.#remove(entry.instance, 'left');
      return;
    }
    const until = this.#endOf(entry);
    const isSame = known?.entry.inc === entry.inc;
    const participant = isSame ? known.participant : participantOf(entry);
    this.#living.set(entry.instance, { entry, participant, page, born, until });
    if (!isSame) this.onChange(known ? 'rejoined' : 'joined', participant, entry.inc);
  }

  /** Monotonic ms at which a lease is surely over that was written before now. */
  #endOf({ duration }: MemberEntry): number {
    const { nodeClock, timing } = this.context;
    return nodeClock.monotonic() + duration + timing.clockTolerance;
  }

  #crash({ instance, inc }: MemberEntry): void {
    this.#crashed.set(inc, this.#living.get(instance)!);
    this.#remove(instance, 'crashed');
  }

  #remove(instance: string, change: MemberChange): void {
    const { participant, entry } = this.#living.get(instance)!;
    this.#living.delete(instance);
    this.onChange(change, participant, entry.inc);
  }

  /** ms until the lease may be over. */
  #remaining({ entry, page, until, isMissing }: Living): number {
    const { nodeClock, clusterClock } = this.context;
    const at = nodeClock.monotonic();
    const left =
      clusterClock.isFresh && !isMissing ? Math.min(until - at, page.timeUntilExpiry(leaseOf(entry))) : until - at;
    return Math.max(left, this.#judgesFrom - at);
  }
}

/**
 * Reads a page, and more of the members' clocks if that may help.
 *
 * @returns which of the incarnations are over, by their ids; none for one that the page does not show
 * @throws StoreUnavailableError
 */
async function readExpired(page: PageCell, suspects: readonly Living[]): Promise<ReadonlyMap<string, boolean>> {
  try {
    return await page.transact((record, view) => {
      // In a page that was restored, a renewal may be missing until its node has written again.
      const isRecovering = graceIn(record, view) !== undefined;
      const shown = suspects.flatMap(({ entry: { instance, inc, beat }, born }) => {
        const stored = entryIn(record, instance);
        // While no page is lost, an entry leaves it only when it was over for long: see `nextPage`.
        if (!stored && record?.born === born && !isRecovering) return [[inc, true] as const];
        // An earlier beat comes from a copy of a lost page.
        const isShown = stored?.inc === inc && stored.beat >= beat;
        return isShown ? [[inc, !isRecovering && view.isExpired(leaseOf(stored))] as const] : [];
      });
      return { result: new Map(shown) };
    });
  } catch (error) {
    // Its cell has reported it.
    if (!isUnreadable(error)) throw error;
    return new Map();
  }
}

/** The entry without its lease, as people see it. */
export function participantOf(entry: MemberEntry): Participant {
  const { instance, group, acquirer, host, version, metadata, startedAt } = entry;
  const base = { id: instance, instance, group, acquirer, host, metadata, startedAt };
  return Object.freeze(version === undefined ? base : { ...base, version });
}
