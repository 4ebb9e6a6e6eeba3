import type { Chance } from '../world/chance.js';
import type { Weather } from './weather.js';

/** Rates per call: not above this, or nothing would ever come through. */
const PER_CALL = { lostReply: 0.35, lateWrite: 0.35, lostRequest: 0.4, lie: 0.5, slow: 0.5, badNews: 0.9 };
/** Rates per node, or per schedule. */
const PER_NODE = { freezes: 2, sleeps: 1, wallJumps: 2, crashes: 1, outages: 1 };
const MOST = { ...PER_CALL, ...PER_NODE };
type Fault = keyof typeof MOST;
const faults = Object.keys(MOST) as Fault[];

/** How likely each fault of the weather is to come at all, and how much oftener it may come then. */
const SHARE = 0.35;
const BOOST = 6;

/** A few of the weather's faults, the oftener. What makes the weather what it is (lost data, clocks) stays. */
export function swarm(weather: Weather, chance: Chance): Weather {
  const rates: Partial<Record<Fault, number>> = {};
  for (const fault of faults) {
    const boosted = Math.min(MOST[fault], weather[fault] * chance.between(1, BOOST));
    rates[fault] = chance.happens(SHARE) ? boosted : 0;
  }
  return { ...weather, ...rates };
}
