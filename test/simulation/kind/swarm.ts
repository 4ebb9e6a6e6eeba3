import type { Chance } from '../world/chance.js';
import type { FaultMix } from './fault-mix.js';

/** Highest rates per call: above them no call would ever come through. */
const PER_CALL = { lostReply: 0.35, lateWrite: 0.35, lostRequest: 0.4, lie: 0.5, slow: 0.5, badNews: 0.9 };
/** Highest rates per node, or per schedule. */
const PER_NODE = { freezes: 2, sleeps: 1, wallJumps: 2, crashes: 1, outages: 1 };
const MOST = { ...PER_CALL, ...PER_NODE };
type Fault = keyof typeof MOST;
const faults = Object.keys(MOST) as Fault[];

/** How likely each fault of the mix is to come at all, and by how much its rate may grow then. */
const SHARE = 0.35;
const BOOST = 6;

/** Keeps a few faults of the mix and raises their rates. The faults that name the mix (lost data, clocks) stay. */
export function swarm(faultMix: FaultMix, chance: Chance): FaultMix {
  const rates: Partial<Record<Fault, number>> = {};
  for (const fault of faults) {
    const boosted = Math.min(MOST[fault], faultMix[fault] * chance.between(1, BOOST));
    rates[fault] = chance.happens(SHARE) ? boosted : 0;
  }
  return { ...faultMix, ...rates };
}
