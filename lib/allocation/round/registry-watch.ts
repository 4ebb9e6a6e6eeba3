import type { ParticipantEntry, RegistryView } from './registry-view.js';

/** One page of the registry, as far as one group needs it. */
export interface RegistryPage {
  /** Id of the page's lineage: a page that was lost and restored has another one, for example that of its grace. */
  readonly born: string;
  /** Grows with every write. */
  readonly seq: number;
  readonly entries: readonly ParticipantEntry[];
  /** Incarnations that their nodes have given up. */
  readonly ended: readonly string[];
}

/** One reading of all pages. A page that the store does not have is undefined. */
interface RegistryReading {
  readonly pages: readonly (RegistryPage | undefined)[];
  /** This node's monotonic time before the first page was asked for. */
  readonly sent: number;
  /** Its monotonic time after the last answer. */
  readonly received: number;
  /** Lower bound of cluster time at `sent`, in ms. -Infinity while the clocks are suspect. */
  readonly earliest: number;
  /** This node's monotonic time at which it last asked for the clocks that `earliest` comes from. */
  readonly sampledAt: number;
}

interface WatchedLease {
  readonly beat: number;
  /** The lease was written after this reading, which did not have it. */
  readonly lastWithout: number;
  /** The lease was written before this. */
  readonly firstSeen: number;
}

interface WatchedPage {
  readonly born: string | undefined;
  readonly seq: number;
  readonly since: number;
  readonly lastSent: number;
  readonly leases: ReadonlyMap<string, WatchedLease>;
}

/**
 * One node's observations of the registry, over several readings. Times are those of its own monotonic clock, so no
 * clock of another machine can end a lease early:
 *
 *     lastWithout   firstSeen
 *          |-- written --|
 *          |<----- duration ----->|                      surely alive until here
 *                        |<----- duration + tolerance ----->|       surely over from here
 *
 * In between, cluster time decides, if the clocks were asked after the lease was first seen: the clock that stamped it may
 * have been set back since an earlier sample. A page that was lost, or went back, is watched anew, and its leases count as written
 * just now: the store may have put back entries whose newer leases still run.
 */
export class RegistryWatch {
  #pages: readonly WatchedPage[] = [];
  /** Incarnation -> monotonic time from which the lease that was last seen is surely over. */
  #lastSeen: ReadonlyMap<string, number> = new Map();

  /** @param tolerance the largest difference of clocks, in ms */
  constructor(private readonly tolerance: number) {}

  /** Takes a reading. The time until a lease may be over is `nextChangeIn`, in ms: another look is useful then. */
  observe(reading: RegistryReading): RegistryView & { readonly nextChangeIn: number } {
    const living = new Map<string, ParticipantEntry>();
    const ended = new Set<string>();
    const seen = new Map<string, number>();
    let nextChangeIn = Infinity;
    this.#pages = reading.pages.map((page, index) => {
      const watched = watch(page, this.#pages[index], reading);
      for (const inc of page?.ended ?? []) ended.add(inc);
      for (const entry of page?.entries ?? []) {
        const lease = watched.leases.get(entry.inc)!;
        const left = this.#timeLeft(entry, lease, reading);
        seen.set(entry.inc, this.#surelyOverAt(entry, lease));
        if (left > 0) nextChangeIn = Math.min(nextChangeIn, left);
        if (left > 0) living.set(entry.inc, entry);
        else ended.add(entry.inc);
      }
      return watched;
    });
    for (const inc of ended) living.delete(inc);
    const watchedSince = Math.max(...this.#pages.map(({ since }) => since));
    const vanished = this.#vanished(seen, ended, reading.sent);
    for (const until of vanished.values()) nextChangeIn = Math.min(nextChangeIn, until - reading.sent);
    return {
      readFrom: reading.sent,
      watchedSince,
      living,
      ended,
      vanished: new Set(vanished.keys()),
      nextChangeIn,
    };
  }

  /**
   * Leases that are not shown any more, and may still run, with their ends: the store may have lost the entry, or put back
   * an older page, between two readings. Their ends count from the first sight, as those of entries that are shown.
   * Counted from the last sight, a lease that another writer of the page judged and dropped first would last nearly
   * twice as long.
   */
  #vanished(seen: ReadonlyMap<string, number>, ended: ReadonlySet<string>, sent: number): Map<string, number> {
    const former = [...this.#lastSeen].filter(([inc, until]) => until > sent && !seen.has(inc) && !ended.has(inc));
    const shown = [...seen].filter(([inc]) => !ended.has(inc));
    this.#lastSeen = new Map([...former, ...shown]);
    return new Map(former);
  }

  /** Monotonic time at which a lease is over, whatever the clocks of other machines say. */
  #surelyOverAt({ duration }: ParticipantEntry, { firstSeen }: WatchedLease): number {
    return firstSeen + duration + this.tolerance;
  }

  /** ms until a lease is over, unless it is renewed. Judged at the time before the reading, which did not see later writes. */
  #timeLeft(entry: ParticipantEntry, lease: WatchedLease, { sent, earliest, sampledAt }: RegistryReading): number {
    const untilSurelyOver = this.#surelyOverAt(entry, lease) - sent;
    const whileSurelyAlive = lease.lastWithout + entry.duration - sent;
    const byClusterTime = entry.expiresAt + this.tolerance - earliest;
    const isProven = byClusterTime > 0 || sampledAt >= lease.firstSeen;
    return isProven ? Math.min(untilSurelyOver, Math.max(whileSurelyAlive, byClusterTime)) : untilSurelyOver;
  }
}

function watch(
  page: RegistryPage | undefined,
  former: WatchedPage | undefined,
  { sent, received }: RegistryReading,
): WatchedPage {
  const isGoingOn = former?.born === page?.born && (page?.seq ?? 0) >= (former?.seq ?? 0);
  const anew = { since: received, lastSent: former ? received : -Infinity, leases: new Map<string, WatchedLease>() };
  const base = former && isGoingOn ? former : anew;
  const leases = (page?.entries ?? []).map(({ inc, beat }) => {
    const known = base.leases.get(inc);
    return [inc, known?.beat === beat ? known : { beat, lastWithout: base.lastSent, firstSeen: received }] as const;
  });
  return { born: page?.born, seq: page?.seq ?? 0, since: base.since, lastSent: sent, leases: new Map(leases) };
}
