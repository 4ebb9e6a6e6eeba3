/** What may go wrong in a schedule, and how often. Rates are probabilities per call. */
export interface Weather {
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
  /** News that get lost, come late or twice. */
  readonly badNews: number;
  /** Per node and schedule. */
  readonly freezes: number;
  readonly sleeps: number;
  readonly wallJumps: number;
  readonly crashes: number;
  /** Per schedule: the store can't be reached for a while. */
  readonly outages: number;
  /** Per schedule: the store splits in two sides, and merges after a while. */
  readonly splits: number;
  /** The smaller side refuses to write once it has noticed. */
  readonly quorum: boolean;
  /** How often in a schedule all data are lost. */
  readonly dataLosses: number;
  /** ms by which the cluster's clocks jump once, together. */
  readonly clockJumps: readonly number[];
  /** How likely it is the clock of one member only that jumps. */
  readonly loneJumps: number;
  /** Per schedule: an old copy of all data is put back. */
  readonly rollbacks: number;
  /** The member that answers may be one of two; ms between their clocks. */
  readonly memberSpread: number;
  readonly strictStart: boolean;
  /** Permits may last longer than the definition says: asked for or extended so, or granted before an edit. */
  readonly longPermits: boolean;
}

const CALM: Weather = {
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
  outages: 0,
  splits: 0,
  quorum: true,
  dataLosses: 0,
  clockJumps: [],
  loneJumps: 0,
  rollbacks: 0,
  memberSpread: 25,
  strictStart: false,
  longPermits: true,
};

const LOSSY: Weather = {
  ...CALM,
  lostReply: 0.05,
  lateWrite: 0.03,
  lostRequest: 0.03,
  lie: 0.03,
  badNews: 0.2,
  outages: 0.3,
};
const STORMY: Weather = { ...LOSSY, freezes: 1.5, sleeps: 0.3, wallJumps: 0.3, crashes: 0.5 };
/** ms by which clocks jump: by so little that it is hard to notice, and by so much that it does all the harm it can. */
const AHEAD = [3000, 100_000];
const BACK = [-3000, -100_000];
/** Data are lost when few have heard of what was written last. */
const FORGETFUL: Weather = { ...STORMY, dataLosses: 3, badNews: 0.7, crashes: 1 };

/** Groups of faults in which no schedule may break a promise. */
export const KEPT = {
  calm: CALM,
  lossy: LOSSY,
  slow: { ...LOSSY, slow: 0.15 },
  stormy: STORMY,
  all: { ...STORMY, slow: 0.05 },
  'split-with-quorum': { ...STORMY, splits: 1 },
  'data-loss': { ...FORGETFUL, crashes: 0, longPermits: false },
  'data-loss-and-crashes-strict': { ...FORGETFUL, strictStart: true, longPermits: false },
  'clock-back': { ...STORMY, clockJumps: BACK },
  'one-clock-ahead': { ...STORMY, clockJumps: AHEAD, loneJumps: 1 },
  'one-clock-back': { ...STORMY, clockJumps: BACK, loneJumps: 1 },
  'clock-spread': { ...STORMY, memberSpread: 3000 },
  'clocks-strict': { ...STORMY, clockJumps: [...AHEAD, ...BACK], loneJumps: 0.2, strictStart: true },
} satisfies Record<string, Weather>;

/**
 * Known holes. A node that has just started has no history to hold against an empty store or against clocks that all
 * jumped ahead; `strictStart` closes both. After lost data the grace is as long as the longest permit that the restoring
 * node knew of: a longer one of which it had not heard may outlast it, unless its holder hears of the loss in time. An
 * old copy of the data that is just what a node knew last is no loss to that node: it takes over what was granted since,
 * unless somebody who knows better looks first.
 */
export const HOLES = {
  'clock-ahead': { ...STORMY, clockJumps: AHEAD },
  'data-loss-and-crashes': FORGETFUL,
  'data-loss-and-long-permits': { ...FORGETFUL, crashes: 0 },
  rollback: { ...STORMY, crashes: 0, rollbacks: 1, badNews: 0.5, longPermits: false },
  'split-without-quorum': { ...STORMY, splits: 1, quorum: false },
} satisfies Record<string, Weather>;

export const WEATHERS = { ...KEPT, ...HOLES };

export type WeatherName = keyof typeof WEATHERS;
