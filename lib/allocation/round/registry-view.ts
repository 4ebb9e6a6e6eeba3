import type { ShrunkSet } from '../../core/members/index.js';
import type { RootId } from '../map/root.js';

/** A node that takes part in a group, as its own entry in the registry says. Only the node itself writes it. */
export interface ParticipantEntry {
  /** Incarnation: one unbroken membership lease of one process. */
  readonly inc: string;
  /** The node's name, as pins and drains have it. */
  readonly node: string;
  /** Id of the process. */
  readonly instance: string;
  /** Cluster time in ms at which the process first joined. */
  readonly startedAt: number;
  /** See `WeightedParticipant.weight`. A node that leaves sets 0 and stays until it has given everything back. */
  readonly weight: number;
  /** Grows with every write of the entry: it tells the leases of one incarnation apart, even after a clock jumped. */
  readonly beat: number;
  /** Cluster time in ms at which the lease ends. */
  readonly expiresAt: number;
  /** Length of the lease in ms. */
  readonly duration: number;
  /** The node has applied this root and all before it, and given back what they took away. */
  readonly acked?: RootId | undefined;
  /** The highest token that the node has seen. */
  readonly top: number;
  /** Key of a page that the node needs and does not find. */
  readonly missing?: string | undefined;
  /** Digest of the resources that the node has read. */
  readonly digest?: string | undefined;
  /** The node could not decide on the group in this lease, and handed the decision on. */
  readonly yields?: true | undefined;
  /** The problem that this node has with the group, as a sentence. */
  readonly problem?: string | undefined;
  /** The node decides, and what it read counts only if others read the same: they look now. */
  readonly doubts?: ShrunkSet | undefined;
}

/** Whether a node has read the resources, and has not failed to decide. */
export function canDecide({ digest, yields }: ParticipantEntry): boolean {
  return digest !== undefined && !yields;
}

/**
 * The participants of a group, as one reading of the registry shows them. Made by `RegistryWatch`.
 *
 * An incarnation is in one of three states: it is living (its lease may still run), it is over (its lease has surely
 * ended, for itself too), or neither: its entry is missing, and it may still come back. Only over sets resources free.
 */
export interface RegistryView {
  /** This node's monotonic time before the registry was read. */
  readonly readFrom: number;
  /** Monotonic time since which all pages of the registry have been watched without a gap. Infinity: not yet. */
  readonly watchedSince: number;
  /** Participants whose lease may still run. */
  readonly living: ReadonlyMap<string, ParticipantEntry>;
  /** Incarnations whose lease ran out, or that their node marked as ended. */
  readonly ended: ReadonlySet<string>;
  /** Incarnations without an entry that had one so recently that their lease may still run. */
  readonly vanished: ReadonlySet<string>;
}

/** ms that a lease lasts at most, and ms by which clocks may differ. */
export interface LeaseBound {
  readonly lease: number;
  readonly tolerance: number;
}

/**
 * Whether an incarnation is over: it ended, its lease ran out, or it is absent while every page of the registry was
 * watched for longer than a lease. A shorter watch proves nothing: the store may have lost the entry of a living node,
 * which writes it again at its next heartbeat.
 */
export function isOver(view: RegistryView, inc: string, bound: LeaseBound): boolean {
  return view.ended.has(inc) || (isAbsent(view, inc) && view.readFrom >= absentAreOverAt(view, bound));
}

/** ms of this node's monotonic time: a reading from then on shows that the incarnations without an entry are over. */
export function absentAreOverAt({ watchedSince }: RegistryView, { lease, tolerance }: LeaseBound): number {
  return watchedSince + lease + tolerance;
}

/** Whether nothing is known of an incarnation: it has no entry, and had none lately. */
export function isAbsent({ ended, living, vanished }: RegistryView, inc: string): boolean {
  return !ended.has(inc) && !living.has(inc) && !vanished.has(inc);
}

/** Whether a member has given back what a root of `born` took away from it. */
export function hasAcknowledged({ living }: RegistryView, inc: string, { born, seq }: RootId): boolean {
  const acked = living.get(inc)?.acked;
  return acked?.born === born && acked.seq >= seq;
}
