import { Chance } from '../world/chance.js';
import type { LengthName } from './length.js';
import { KEPT, WEATHERS, type WeatherName } from './weather.js';

/** What kind of schedule a seed stands for. */
export interface Kind {
  readonly weather: WeatherName;
  readonly length: LengthName;
}

/** One in so many schedules is a long one, and one in so many a short one. */
const LONG = 500;
const SHORT = 6;

const names = Object.keys(KEPT) as WeatherName[];

/** What is not asked for follows from the seed, so that the seed alone tells the whole schedule. */
export function kindOf(seed: number, asked: Partial<Kind> = {}): Kind {
  const weather = asked.weather ?? new Chance(~seed).pick(names);
  if (!(weather in WEATHERS)) throw new Error(`no weather is called ${weather}`);
  return { weather, length: asked.length ?? lengthOf(seed) };
}

function lengthOf(seed: number): LengthName {
  if (seed % LONG === 0) return 'long';
  return seed % SHORT === 0 ? 'short' : 'brief';
}
