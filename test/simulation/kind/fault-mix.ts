/** Faults of a schedule and their rates. Rates are probabilities per call unless said otherwise. */
export interface FaultMix {
  /** The write is applied, its answer is lost. */
  readonly lostReply: number;
  /** The write is applied long after its caller gave up. */
  readonly lateWrite: number;
  /** The request never arrives. */
  readonly lostRequest: number;
  /** Answers `false` though it was applied: the client retried on its own. */
  readonly lie: number;
  /** Up to 1.9 s under way, there or back. */
  readonly slow: number;
  /** A hint gets lost, comes late or comes twice. */
  readonly badNews: number;
  /** Per node and schedule. */
  readonly freezes: number;
  readonly sleeps: number;
  readonly wallJumps: number;
  readonly crashes: number;
  /** Per node and schedule: this node can't reach the store for a while, and notices it sooner or later. */
  readonly cuts: number;
  /** Per schedule: the store can't be reached for a while. */
  readonly outages: number;
  /** Per schedule: the store splits into two sides, and merges after a while. */
  readonly splits: number;
  /** The smaller side refuses to write once it has noticed. */
  readonly quorum: boolean;
  /** How often in a schedule all data are lost. */
  readonly dataLosses: number;
  /** Whether not all data are lost, but only the shard that was written last. */
  readonly losesShards: boolean;
  /** ms by which the cluster's clocks jump once, together. */
  readonly clockJumps: readonly number[];
  /** How likely it is the clock of one member only that jumps. */
  readonly loneJumps: number;
  /** Per schedule: an old copy of all data is put back. */
  readonly rollbacks: number;
  /** How often in a schedule a replica takes over that lacks the newest writes, and doubts its records. */
  readonly failovers: number;
  /** The member that answers may be one of two; ms between their clocks. */
  readonly memberSpread: number;
  /** How far monotonic clocks may drift apart within the longest duration, in shares of the tolerance. */
  readonly drift: number;
  readonly strictStart: boolean;
  /** Permits may last longer than the definition says: asked for or extended so, or granted before an edit. */
  readonly longPermits: boolean;
  /** Calls also use semaphores that no code defines, or that the code of one node defines only. */
  readonly onDemand: boolean;
  /** The nodes also elect a leader, which resigns, hands over and is paused. */
  readonly leadership: boolean;
  /** The code of nodes changes its definition in rolling deploys, in both directions. */
  readonly deploys: boolean;
}

const NONE: FaultMix = {
  lostReply: 0,
  lateWrite: 0,
  lostRequest: 0,
  lie: 0,
  slow: 0,
  badNews: 0,
  freezes: 0,
  sleeps: 0,
  wallJumps: 0,
  crashes: 0,
  cuts: 0,
  outages: 0,
  splits: 0,
  quorum: true,
  dataLosses: 0,
  losesShards: false,
  clockJumps: [],
  loneJumps: 0,
  rollbacks: 0,
  failovers: 0,
  memberSpread: 25,
  drift: 0,
  strictStart: false,
  longPermits: true,
  onDemand: false,
  leadership: false,
  deploys: false,
};

const LOSSY: FaultMix = {
  ...NONE,
  lostReply: 0.05,
  lateWrite: 0.03,
  lostRequest: 0.03,
  lie: 0.03,
  badNews: 0.2,
  outages: 0.3,
};
const UNSTABLE_NODES: FaultMix = { ...LOSSY, freezes: 1.5, sleeps: 0.3, wallJumps: 0.3, crashes: 0.5 };
/** ms by which clocks jump: a little, which is hard to notice, or so much that it does the most harm. */
const AHEAD = [3000, 100_000];
const BACK = [-3000, -100_000];
/** Data are lost when few nodes have heard of the last writes. */
const FORGETFUL: FaultMix = { ...UNSTABLE_NODES, dataLosses: 3, badNews: 0.7, crashes: 1 };

/** Groups of faults in which no schedule may break a promise. */
export const KEPT = {
  none: NONE,
  lossy: LOSSY,
  slow: { ...LOSSY, slow: 0.15 },
  'unstable-nodes': UNSTABLE_NODES,
  all: { ...UNSTABLE_NODES, slow: 0.05 },
  'split-with-quorum': { ...UNSTABLE_NODES, splits: 1 },
  'data-loss': { ...FORGETFUL, crashes: 0, longPermits: false },
  'data-loss-and-crashes-strict': { ...FORGETFUL, strictStart: true, longPermits: false },
  failover: { ...UNSTABLE_NODES, failovers: 3, badNews: 0.7, longPermits: false },
  'on-demand-failover': { ...UNSTABLE_NODES, failovers: 3, badNews: 0.7, longPermits: false, onDemand: true },
  'clock-back': { ...UNSTABLE_NODES, clockJumps: BACK },
  'one-clock-ahead': { ...UNSTABLE_NODES, clockJumps: AHEAD, loneJumps: 1 },
  'one-clock-back': { ...UNSTABLE_NODES, clockJumps: BACK, loneJumps: 1 },
  'clock-spread': { ...UNSTABLE_NODES, memberSpread: 3000 },
  'clocks-strict': { ...UNSTABLE_NODES, clockJumps: [...AHEAD, ...BACK], loneJumps: 0.2, strictStart: true },
  'clocks-drift': { ...NONE, freezes: 0.3, drift: 0.6 },
  'on-demand': { ...UNSTABLE_NODES, slow: 0.03, onDemand: true },
  'on-demand-data-loss': { ...FORGETFUL, crashes: 0, longPermits: false, onDemand: true },
  'on-demand-shard-loss': { ...FORGETFUL, losesShards: true, onDemand: true },
  'on-demand-strict': { ...FORGETFUL, strictStart: true, longPermits: false, onDemand: true },
  leadership: { ...UNSTABLE_NODES, slow: 0.03, leadership: true },
  'leadership-split-with-quorum': { ...UNSTABLE_NODES, splits: 1, leadership: true },
  'leadership-data-loss': { ...FORGETFUL, crashes: 0, longPermits: false, leadership: true },
  'leadership-failover': { ...UNSTABLE_NODES, failovers: 3, badNews: 0.7, longPermits: false, leadership: true },
  'leadership-cuts': { ...UNSTABLE_NODES, cuts: 1.5, leadership: true },
  'leadership-one-clock': {
    ...UNSTABLE_NODES,
    cuts: 0.5,
    clockJumps: [...AHEAD, ...BACK],
    loneJumps: 1,
    leadership: true,
  },
  'leadership-clocks-strict': {
    ...UNSTABLE_NODES,
    clockJumps: [...AHEAD, ...BACK],
    strictStart: true,
    leadership: true,
  },
  'leadership-clocks-drift': { ...NONE, freezes: 0.5, cuts: 0.5, drift: 0.6, leadership: true },
} satisfies Record<string, FaultMix>;

/**
 * Known holes. A node that has just started has no history to hold against an empty store or against clocks that all
 * jumped ahead; `strictStart` closes both. After lost data the grace is as long as the longest permit that the restoring
 * node knew of: a longer one of which it had not heard may outlast it, unless its holder hears of the loss in time. An
 * old copy of the data that is just what a node knew last is no loss to that node: it takes over what was granted since,
 * unless a node that knows more reads the record first.
 */
export const HOLES = {
  'clock-ahead': { ...UNSTABLE_NODES, clockJumps: AHEAD },
  'data-loss-and-crashes': FORGETFUL,
  'data-loss-and-long-permits': { ...FORGETFUL, crashes: 0 },
  rollback: { ...UNSTABLE_NODES, crashes: 0, rollbacks: 1, badNews: 0.5, longPermits: false },
  'split-without-quorum': { ...UNSTABLE_NODES, splits: 1, quorum: false },
} satisfies Record<string, FaultMix>;

/**
 * No schedule may break a promise here, either. Not among those that a seed picks from: the other schedules stay as they were.
 */
export const DEPLOYS = {
  'calm-deploys': { ...NONE, deploys: true },
  deploys: { ...UNSTABLE_NODES, cuts: 0.5, slow: 0.03, deploys: true },
  // A deploy restarts nodes, and one that starts right after a loss of data has no history of it: with it go strict starts.
  'deploys-data-loss': { ...FORGETFUL, crashes: 0, strictStart: true, longPermits: false, deploys: true },
  'deploys-failover': { ...UNSTABLE_NODES, failovers: 3, badNews: 0.7, longPermits: false, deploys: true },
} satisfies Record<string, FaultMix>;

export const FAULT_MIXES = { ...KEPT, ...HOLES, ...DEPLOYS };

export type FaultMixName = keyof typeof FAULT_MIXES;
