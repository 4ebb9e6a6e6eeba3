import type { HintQueue, SortedTexts, TaskStorage, Texts, TextEntry } from '../../../core/store/task-storage.js';
import { type Calls, SHARED } from '../calls.js';
import type { Keys } from '../keys.js';
import { RedisHints, type HintPolls } from './redis-hints.js';
import { GatheredWrites, type TextWrite, type TextWritten } from '../../../core/store/gathered-writes.js';
import { RANGE_OF_TEXTS, WRITE_TEXTS, hasOwnOrder } from '../scripts.js';

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

/** Texts in a hash. A script compares and writes in one step. */
class HashTexts implements Texts {
  protected readonly keys: readonly [string, ...string[]];
  readonly #writes = new GatheredWrites((writes) => this.#send(writes), SHARED);

  /** @param order key of the sorted set that keeps the order of the texts; absent: they have none */
  constructor(
    protected readonly hash: string,
    protected readonly calls: Calls,
    order?: string,
  ) {
    this.keys = order === undefined ? [hash] : [hash, order];
  }

  async read(key: string): Promise<string | undefined> {
    return present(await this.calls.read(this.hash, ['hget', this.hash, key]));
  }

  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    if (keys.length === 0) return new Map();
    const texts = (await this.calls.read(this.hash, ['hmget', this.hash, ...keys])) as unknown[];
    return new Map(keys.flatMap((key, index) => (texts[index] === null ? [] : [[key, String(texts[index])] as const])));
  }

  async create(key: string, text: string): Promise<string | undefined> {
    const written = await this.#writes.write({ key, next: text });
    return written === true ? undefined : written.found;
  }

  async replace(key: string, expected: string, next: string): Promise<boolean> {
    return (await this.#writes.write({ key, former: expected, next })) === true;
  }

  async remove(key: string, expected: string): Promise<boolean> {
    return (await this.#writes.write({ key, former: expected })) === true;
  }

  async #send(writes: readonly TextWrite[]): Promise<TextWritten[]> {
    const args = writes.flatMap(argumentsOf);
    const answers = (await this.calls.write(WRITE_TEXTS, [...this.keys], args)) as unknown[];
    return answers.map((answer) => (answer === null ? true : { found: String(answer) }));
  }
}

/** Texts in a hash, with their order in a sorted set. */
class SortedHashTexts extends HashTexts implements SortedTexts {
  async range(from: string, to: string, limit: number): Promise<TextEntry[]> {
    const answer = await this.calls.readBy(RANGE_OF_TEXTS, [...this.keys], [from, to, String(Math.max(0, limit))]);
    const flat = answer as string[];
    return Array.from({ length: flat.length / 2 }, (_, index) => ({
      key: String(flat[2 * index]),
      text: String(flat[2 * index + 1]),
    }));
  }
}

function argumentsOf(write: TextWrite): string[] {
  const { key, former = '', next = '' } = write;
  return [key, former, next, markOf(write), hasOwnOrder(former) || hasOwnOrder(next) ? '1' : '0'];
}

function markOf({ former, next }: TextWrite): string {
  if (former === undefined) return '0';
  return next === undefined ? '2' : '1';
}

function present(answer: unknown): string | undefined {
  return answer === null ? undefined : String(answer);
}
