import type { NodeIdentity } from '../../core/context/node-identity.js';
import { InvalidOptionsError, show } from '../../core/decision/index.js';
import { type TaskType, groupId, typeFaults, typeOf } from '../rules/task-id.js';
import type { TaskStore } from '../records/task-store.js';
import { type CancelOptions, parseCancelOptions } from './cancel-options.js';

/** Answer to `cancelGroup()`. */
export interface GroupCancelled {
  /** Id of the group: `import[june]`. */
  readonly id: string;
  /**
   * `cancelled`: all members that have not ended, end as cancelled. It goes on in the background if there are many. `ended`:
   * all members had ended, and nothing was changed. `unknown`: there is no such group, or it is no longer remembered.
   */
  readonly outcome: 'cancelled' | 'ended' | 'unknown';
  /** Why, in a sentence. */
  readonly because: string;
}

/** @throws InvalidOptionsError, StoreUnavailableError, UnknownOutcomeError, CorruptRecordError, NewerRecordError */
export async function cancelGroup(
  task: TaskType,
  group: string,
  options: CancelOptions | undefined,
  { groups, stops }: Pick<TaskStore, 'groups' | 'stops'>,
  node: Pick<NodeIdentity, 'acquirer'>,
): Promise<GroupCancelled> {
  const { type } = typeOf(task);
  const faults = typeFaults(type);
  if (typeof group !== 'string' || group === '') faults.push(`group: ${show(group)} is not a text`);
  if (faults.length > 0) throw new InvalidOptionsError('a group of tasks', faults);
  const id = groupId(type, group);
  const author = parseCancelOptions(id, options, node);
  const root = await groups.latest(type, group);
  if (!root) return { id, outcome: 'unknown', because: 'no such group is in the store: it has no members, or is over' };
  if (root.state !== 'open') return { id, outcome: 'ended', because: ENDED };
  const stopped = await stops.stop(type, { group, incarnation: root.incarnation }, author, true);
  if (!stopped) return { id, outcome: 'ended', because: ENDED };
  return { id, outcome: 'cancelled', because: `all members that have not ended, end: cancelled by ${stopped.by}` };
}

const ENDED = 'all its members have ended';
