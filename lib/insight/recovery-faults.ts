import { type Context, timeOf } from '../context/context.js';
import { formatTime } from './format-duration.js';
import type { HealthFacts } from './health-report.js';

/** The grace after lost data, while it lasts: all else may look well then, although nothing new runs. */
export function recoveryFaults(
  context: Pick<Context, 'recoveries' | 'clusterClock' | 'nodeClock'>,
): HealthFacts['recovering'] {
  const recovery = context.recoveries.current(timeOf(context));
  if (!recovery) return [];
  const sentence =
    `the store lost data, or may have: until ${formatTime(recovery.until)}, restored records keep the permits of their ` +
    'holders and give no new ones, and definitions that are new in the code wait';
  return [{ since: recovery.since, sentence }];
}
