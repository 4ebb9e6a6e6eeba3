import type { Slices } from '../../../core/async/slices.js';
import { MOST_KEYS } from '../../../core/store/index.js';
import type { TextCells } from '../../../core/cell/text-cells.js';
import type { Member } from '../../rules/task.js';
import { memberId } from '../../rules/task-id.js';
import { readableTask } from '../../rules/task.codec.js';
import { hasEnded } from '../../rules/transitions.js';
import { type GroupRoot, numbersOf } from '../../rules/group.js';

/** The tasks of the members of groups, as far as the records of the groups need them. */
export class Members {
  constructor(
    private readonly texts: Pick<TextCells, 'readMany'>,
    private readonly slices: Pick<Slices, 'turn'>,
  ) {}

  /** The first of these tasks that is a member of this incarnation. @throws StoreUnavailableError */
  async memberOf(incarnation: number, ids: readonly string[]): Promise<Member | undefined> {
    for (const text of (await this.texts.readMany(ids)).values()) {
      await this.slices.turn(text.length);
      const member = readableTask(text)?.member;
      if (member?.incarnation === incarnation) return member;
    }
    return undefined;
  }

  /**
   * Whether a task is in the store that is a member of this root, or may become one. Most groups have their first member, so
   * one read is enough for these.
   *
   * @throws StoreUnavailableError
   */
  async hasAny({ group, type, incarnation, begun, total, highest = 0 }: GroupRoot): Promise<boolean> {
    const name = group.slice(type.length + 1, -1);
    const last = total ?? highest;
    const all = total === 0 ? [0] : begun.flatMap((page) => numbersOf(page, last));
    for (let from = 0, size = 1; from < all.length; from += size, size = MOST_KEYS) {
      const numbers = all.slice(from, from + size);
      const texts = await this.texts.readMany(numbers.map((number) => memberId(type, name, number)));
      for (const text of texts.values()) {
        await this.slices.turn(text.length);
        if (mayBeMember(text, incarnation)) return true;
      }
    }
    return false;
  }
}

/** One that has not ended becomes a member with its next submission. One that can't be read counts. */
function mayBeMember(text: string, incarnation: number): boolean {
  const task = readableTask(text);
  return !task || !hasEnded(task) || (task.member?.incarnation ?? 0) >= incarnation;
}
