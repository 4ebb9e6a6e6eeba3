import { type SubmitOptions, type TaskName, grouped, single, wholeGroup } from '../../../lib/tasks/index.js';
import { Chance } from '../world/chance.js';

/** A task that runs after others. */
export interface PlannedLink {
  readonly name: TaskName;
  /** Ids of tasks and groups that were planned before. */
  readonly after: readonly string[];
  /** Its serial queue. */
  readonly queue?: string;
  readonly afterFailed: NonNullable<SubmitOptions['afterFailed']>;
}

/**
 * Half of the schedules have tasks that run after others: chains, diamonds, and a group at the end. A stream of its own: the
 * schedules without them stay as they were.
 *
 * @param groups ids of groups that the schedule has
 */
export function planChains(seed: number, groups: readonly string[]): PlannedLink[] {
  if (seed % 4 > 1) return [];
  const chance = new Chance(seed ^ 0x5a5a5a);
  const ids = groups.slice(0, 1);
  const links: PlannedLink[] = [];
  const add = (name: TaskName) => {
    const after = new Set(ids.slice(-3).filter(() => chance.happens(0.6)));
    links.push({ name, after: [...after], afterFailed: chance.happens(0.5) ? 'run' : 'cancel' });
    return name.id;
  };
  for (let index = chance.whole(2, 5); index > 0; index--) ids.push(add(single('link', `l${index}`)));
  const total = chance.whole(0, 2);
  for (let number = 1; number <= total; number++) add(grouped('link', 'ends', number, total));
  if (total > 0) {
    ids.push(wholeGroup('link', 'ends').id);
    add(single('link', 'last'));
  }
  return links;
}

/** Tasks of up to two serial queues, in half of the schedules. */
export function planQueues(seed: number): PlannedLink[] {
  if (seed % 4 !== 1 && seed % 4 !== 2) return [];
  const chance = new Chance(seed ^ 0x3c3c3c);
  const links: PlannedLink[] = [];
  for (let index = chance.whole(3, 7); index > 0; index--) {
    const queue = chance.happens(0.7) ? 'one' : 'other';
    links.push({ name: single('link', `q${index}`), after: [], afterFailed: 'run', queue });
  }
  return links;
}
