import type { HintQueue, SortedTexts, TaskStorage, Texts } from '../../../core/store/task-storage.js';
import type { Calls } from '../calls.js';
import type { Keys } from '../keys.js';
import { RedisHints, type HintPolls } from './redis-hints.js';
import { HashTexts, SortedHashTexts } from './hash-texts.js';

/**
 * Tasks in a hash with their order in a sorted set, groups in a hash, hints in lists. In a Cluster all tasks are in one
 * slot, because one script changes the hash and the order; all groups are in one slot, and each queue is in one.
 */
export class RedisTasks implements TaskStorage {
  readonly tasks: SortedTexts;
  readonly groups: Texts;

  constructor(
    private readonly keys: Keys,
    private readonly calls: Calls,
    private readonly polls: HintPolls,
  ) {
    this.tasks = new SortedHashTexts(keys.texts('tasks'), calls, keys.taskOrder);
    this.groups = new HashTexts(keys.texts('groups'), calls);
  }

  queue(name: string): HintQueue {
    return new RedisHints(name, { keys: this.keys.queue(name), calls: this.calls, polls: this.polls });
  }
}
