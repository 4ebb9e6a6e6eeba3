import { randomInt } from 'node:crypto';

/** Real processes on real members give no run twice: a seed would promise what it can't keep. */
export const chances = {
  happens: (percent: number): boolean => randomInt(100) < percent,
  whole: (low: number, high: number): number => randomInt(low, high + 1),
  pick: <T>(choices: readonly T[]): T => choices[randomInt(choices.length)]!,
};
