import type { OrderedTexts, TextEntry, Texts } from '../../core/store/driver.js';
import { GatheredWrites, type TextWrite } from '../../core/store/gathered-writes.js';
import { type Calls, SHARED } from './calls.js';
import { RANGE_OF_TEXTS, WRITE_TEXTS, hasOwnOrder } from './scripts.js';

/** Texts in a hash: the groups. A script compares and writes in one step. In a Cluster all are in one slot. */
export class HashTexts implements Texts {
  readonly #writes = new GatheredWrites((writes: readonly TextWrite[]) => this.#send(writes), SHARED);

  /** @param keys the hash, and the sorted set that keeps the order of its texts, if they have one */
  constructor(
    protected readonly keys: readonly [hash: string, ...order: string[]],
    protected readonly calls: Calls,
  ) {}

  async read(key: string): Promise<string | undefined> {
    const [hash] = this.keys;
    const text = await this.calls.read(hash, ['hget', hash, key]);
    return text === null ? undefined : String(text);
  }

  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    if (keys.length === 0) return new Map();
    const [hash] = this.keys;
    const texts = (await this.calls.read(hash, ['hmget', hash, ...keys])) as unknown[];
    return new Map(keys.flatMap((key, index) => (texts[index] === null ? [] : [[key, String(texts[index])] as const])));
  }

  compareAndSet(key: string, former: string | undefined, next: string | undefined): Promise<boolean> {
    return this.#writes.write({ key, former, next });
  }

  async #send(writes: readonly TextWrite[]): Promise<boolean[]> {
    const answers = (await this.calls.write(WRITE_TEXTS, this.keys, writes.flatMap(argumentsOf))) as unknown[];
    return answers.map((answer) => Number(answer) === 1);
  }
}

/**
 * Texts in a hash, with their order in a sorted set: the tasks. In a Cluster all are in one slot, because one script changes the hash
 * and the order.
 */
export class OrderedHashTexts extends HashTexts implements OrderedTexts {
  async range(from: string, to: string, limit: number): Promise<TextEntry[]> {
    const answer = await this.calls.readBy(RANGE_OF_TEXTS, this.keys, [from, to, String(Math.max(0, limit))]);
    const flat = answer as string[];
    return Array.from({ length: flat.length / 2 }, (_, index) => ({
      key: String(flat[2 * index]),
      text: String(flat[2 * index + 1]),
    }));
  }
}

function argumentsOf({ key, former, next }: TextWrite): string[] {
  const [expected, text] = [former ?? '', next ?? ''];
  const flags = [former !== undefined, next !== undefined, hasOwnOrder(expected) || hasOwnOrder(text)];
  return [key, expected, text, flags.map(Number).join('')];
}
