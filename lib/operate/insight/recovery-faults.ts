import { type Context, timeOf } from '../../core/context/context.js';
import type { Recovery } from '../../core/context/recoveries.js';
import { KEY_PREFIX } from '../../core/decision/record.js';
import { SHARD_PREFIX, quoted } from '../../core/decision/index.js';
import { formatTime } from './format-duration.js';
import type { HealthFacts } from './health-report.js';

/** The graces after lost data, while they last: all else may look well then, although nothing new runs. */
export function recoveryFaults(
  context: Pick<Context, 'recoveries' | 'clusterClock' | 'nodeClock'>,
): HealthFacts['recovering'] {
  const current = context.recoveries.current();
  if (current.length === 0) return [];
  const ofShards = current.filter(({ key }) => key.startsWith(SHARD_PREFIX));
  const ofSemaphores = current.filter(({ key }) => !key.startsWith(SHARD_PREFIX));
  const end = (some: readonly Recovery[]) => formatTime(timeOf(context) + Math.max(...some.map(({ left }) => left)));
  const parts = [];
  if (ofSemaphores.length > 0) {
    parts.push(`only former holders of ${namesOf(ofSemaphores)} go on, until ${end(ofSemaphores)} at the latest`);
  }
  if (ofShards.length > 0) {
    parts.push(
      'only former holders of names without a definition go on, and definitions that are new in the code wait, ' +
        `until ${end(ofShards)} at the latest`,
    );
  }
  const since = Math.min(...current.map((each) => each.since));
  return [{ since, sentence: `the store lost data, or may have: ${parts.join('; ')}` }];
}

function namesOf([first, ...others]: readonly Recovery[]): string {
  const name = quoted(first!.key.slice(KEY_PREFIX.length));
  return others.length === 0 ? name : `${name} and ${others.length} more`;
}
