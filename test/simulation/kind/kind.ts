import { Chance } from '../world/chance.js';
import type { LengthName } from './length.js';
import { KEPT, FAULT_MIXES, type FaultMixName } from './fault-mix.js';

/** Kind of the schedule that a seed stands for. */
export interface Kind {
  readonly faultMix: FaultMixName;
  readonly length: LengthName;
}

/** One in so many schedules is a long one, and one in so many a short one. */
const LONG = 500;
const SHORT = 6;

const names = Object.keys(KEPT) as FaultMixName[];
const namesWithLeaders = names.filter((name) => FAULT_MIXES[name].leadership);

/** Values that are not given follow from the seed, so that the seed alone gives the whole schedule. */
export function kindOf(seed: number, asked: Partial<Kind> = {}, hasLeaders = false): Kind {
  const faultMix = asked.faultMix ?? new Chance(~seed).pick(hasLeaders ? namesWithLeaders : names);
  if (!(faultMix in FAULT_MIXES)) throw new Error(`No fault mix is called "${faultMix}"`);
  return { faultMix, length: asked.length ?? lengthOf(seed) };
}

function lengthOf(seed: number): LengthName {
  if (seed % LONG === 0) return 'long';
  return seed % SHORT === 0 ? 'short' : 'brief';
}
