/**
 * The owner map of one allocation group: one root record and pages, which do not change while the root has them. A
 * compare-and-set of the root is the only commit, so a leader that was frozen and wakes up can't commit anything that
 * was decided on an older root.
 *
 *     allocation:queues              root   seq 42, members: node A -> page 1, page 2; node B -> page 3; limbo -> page 4
 *       page 1, page 2, page 3       tokens and ids of what the member owns, at most 1,000 each
 *       page 4                       ids that were taken away, from which member, and in which seq
 *
 * | a resource is       | in                    | next                                                             |
 * | ------------------- | --------------------- | ---------------------------------------------------------------- |
 * | owned               | a page of its member  | limbo, when the leader takes it away                             |
 * | in limbo            | a page of the limbo   | free, when its former owner acknowledged that seq, or is over    |
 * | free                | no page               | owned, with a new token, unless `lost` or `grace` forbid a grant |
 */
export interface AllocationRoot {
  readonly v: typeof ROOT_VERSION;
  /** New with every write. */
  readonly nonce: string;
  /** Id of this lineage: a root that replaces a lost one has a new one. `seq` is comparable only within a lineage. */
  readonly born: string;
  /** Grows by one with every write. */
  readonly seq: number;
  /** Term of the leader that wrote it. It only spares a former leader useless work; safety does not need it. */
  readonly term: number;
  /** Cluster time of the write, in ms. */
  readonly at: number;
  /** The longest lease that a member may have, in ms. One without a registry entry may live that long. */
  readonly lease: number;
  /** The highest token that was granted. */
  readonly lastToken: number;
  /** Incarnation -> keys of its pages. A member without pages stays until its lease is over. */
  readonly members: ReadonlyMap<string, readonly string[]>;
  /** Keys of the pages of the limbo. */
  readonly limbo: readonly string[];
  /** Pages that the store lost. Nothing is granted until their members have acknowledged the roots without them. */
  readonly lost: readonly Withdrawal[];
  /** The former root was lost. Nothing changes until every node that may own a resource knows this root. */
  readonly grace: boolean;
}

/** The root of `seq` took something away from a member. It is free once the member acknowledged that `seq`, or is over. */
export interface Withdrawal {
  readonly from: string;
  readonly seq: number;
}

/** A root, as nodes acknowledge it. */
export interface RootId {
  readonly born: string;
  readonly seq: number;
}

export const ROOT_VERSION = 1;

/** Whether the store has an older root than the one that this node knows, or one that another write replaced. */
export function isRootBehind(found: AllocationRoot, known: AllocationRoot): boolean {
  if (found.seq !== known.seq) return found.seq < known.seq;
  return found.born === known.born && found.nonce !== known.nonce;
}

/** Input of {@link restoreRoot}. */
interface Restoration {
  /** The newest root that this node has seen. Absent: the group is new, or this node is. */
  readonly copy: AllocationRoot | undefined;
  /** The root in the store, if there is one. */
  readonly found: AllocationRoot | undefined;
  readonly term: number;
  /** Duration of this node's own lease, in ms. */
  readonly lease: number;
  /** Cluster time in ms. */
  readonly now: number;
  readonly nonce: string;
}

/** The root that replaces a lost one, and the first root of a group: a new lineage, with a grace. */
export function restoreRoot({ copy, found, term, lease, now, nonce }: Restoration): AllocationRoot {
  const base = copy ?? found;
  const highest = (of: (root: AllocationRoot) => number) =>
    Math.max(0, ...[copy, found].map((root) => (root ? of(root) : 0)));
  return {
    v: ROOT_VERSION,
    nonce,
    born: nonce,
    seq: highest(({ seq }) => seq) + 1,
    term,
    at: now,
    lease: Math.max(
      lease,
      highest((root) => root.lease),
    ),
    lastToken: highest(({ lastToken }) => lastToken),
    members: base?.members ?? new Map(),
    limbo: base?.limbo ?? [],
    lost: base?.lost ?? [],
    grace: true,
  };
}

/** Keys of all pages of a root. */
export function pageKeysOf({ members, limbo }: AllocationRoot): string[] {
  return [...[...members.values()].flat(), ...limbo];
}
