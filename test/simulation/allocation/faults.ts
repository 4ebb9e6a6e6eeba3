import { FAULT_MIXES, type FaultMix } from '../kind/fault-mix.js';
import type { Chance } from '../world/chance.js';

/** Kinds of faults. Each schedule has some of them. */
export const FAULTS = [
  'crash',
  'freeze',
  'sleep',
  'wallClock',
  'cut',
  'lossy',
  'slow',
  'lateWrites',
  'badHints',
  'outage',
  'split',
  'memberClock',
  'allClocksBack',
  'lostData',
  'hostDies',
  'leave',
  'resources',
  'longWork',
  'orders',
  'failover',
  'oddSources',
] as const;

export type Fault = (typeof FAULTS)[number];

/** Faults that no schedule has by chance. */
const ASKED: ReadonlySet<Fault> = new Set(['failover', 'oddSources']);

/** How likely each kind is to be in a schedule. */
const SHARE = 0.3;

/** Faults that end no lease of a process that runs. */
export const GENTLE: ReadonlySet<Fault> = new Set([
  'crash',
  'hostDies',
  'leave',
  'resources',
  'oddSources',
  'longWork',
  'orders',
  'badHints',
]);

/** Faults after which leases, or the grace of a restored map, may have to follow one another. */
const SLOW_TO_HEAL: readonly Fault[] = ['split', 'memberClock', 'allClocksBack', 'lostData', 'failover'];

/** Faults that leave calls of the nodes without an answer. Such a call goes on until its timeout. */
const LEAVE_CALLS_OPEN: readonly Fault[] = ['lossy', 'slow', 'lateWrites', 'outage', 'cut', 'split'];

/** @param asked exactly these */
export function faultsOf(chance: Chance, asked?: readonly Fault[]): ReadonlySet<Fault> {
  // Some are only asked for: so old seeds keep their schedules.
  const drawn = FAULTS.filter((fault) => !ASKED.has(fault) && chance.happens(SHARE));
  return new Set(asked ?? drawn);
}

/** Whether a grace, or a second lease, may be needed after these faults. */
export function needsGrace(faults: ReadonlySet<Fault>): boolean {
  return SLOW_TO_HEAL.some((fault) => faults.has(fault));
}

/** Whether calls from the time of the trouble may go on after it. */
export function leavesCallsOpen(faults: ReadonlySet<Fault>): boolean {
  return LEAVE_CALLS_OPEN.some((fault) => faults.has(fault));
}

/** The rates per call of these faults. */
export function mixOf(faults: ReadonlySet<Fault>, chance: Chance): FaultMix {
  const rate = (fault: Fault, low: number, high: number) => (faults.has(fault) ? chance.skewed(low, high) : 0);
  return {
    ...FAULT_MIXES.none,
    lostReply: rate('lossy', 0.02, 0.15),
    lostRequest: rate('lossy', 0.02, 0.15),
    lie: rate('lossy', 0.02, 0.2),
    lateWrite: rate('lateWrites', 0.01, 0.1),
    slow: rate('slow', 0.02, 0.15),
    badNews: rate('badHints', 0.1, 0.9),
    // Two members, so that a jump is that of one of them.
    loneJumps: faults.has('memberClock') ? 1 : 0,
  };
}
