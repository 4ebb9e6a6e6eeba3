import type { Slices } from '../../../core/async/slices.js';
import type { TextCells } from '../../../core/cell/text-cells.js';
import { type EndedMembersPage, type GroupRoot, type Paged, incarnationsOf, numbersOf } from '../../rules/group.js';
import { decodePage, decodeGroupRoot, pageKey, rootKey } from '../../rules/group.codec.js';
import { MOST_KEYS } from '../../../core/store/index.js';
import type { Member } from '../../rules/task.js';
import { memberId } from '../../rules/task-id.js';
import { readableTask } from '../../rules/task.codec.js';
import { hasEnded } from '../../rules/transitions.js';

/** A root as it stands in the store. */
export interface Found {
  readonly root: GroupRoot;
  readonly text: string;
}

/** Roots of several groups. */
export interface FoundRoots {
  readonly roots: readonly GroupRoot[];
  /** Number of those that this node can't read: of a newer version, or corrupt. */
  readonly leftOut: number;
}

/**
 * The records of groups as they stand in the store.
 *
 * @throws StoreUnavailableError, CorruptRecordError, NewerRecordError from each method
 */
export class GroupRecords {
  constructor(private readonly parts: { readonly texts: TextCells; readonly slices: Pick<Slices, 'turn'> }) {}

  async root(group: string): Promise<Found | undefined> {
    return foundIn(await this.parts.texts.read(rootKey(group)));
  }

  /** Those that are not there are left out. Those that can't be read are counted. */
  async roots(groups: readonly string[]): Promise<FoundRoots> {
    const texts = await this.parts.texts.readMany(groups.map(rootKey));
    const roots = [...texts.values()].flatMap(readable);
    return { roots, leftOut: texts.size - roots.length };
  }

  async isOver(group: string, incarnation: number): Promise<boolean> {
    const found = await this.root(group);
    return !found || found.root.incarnation !== incarnation || found.root.state === 'closed';
  }

  async pages(group: string, incarnation: number, indexes: readonly number[]): Promise<Map<number, EndedMembersPage>> {
    const pages = new Map<number, EndedMembersPage>();
    const texts = await this.parts.texts.readMany(indexes.map((page) => pageKey(group, incarnation, page)));
    for (const page of indexes) {
      await this.parts.slices.turn();
      const text = texts.get(pageKey(group, incarnation, page));
      if (text !== undefined) pages.set(page, decodePage(text));
    }
    return pages;
  }

  /** Removes the pages of a root, and those of its former incarnation that have come back. */
  async removePages(root: Paged): Promise<void> {
    const keys = incarnationsOf(root).flatMap(({ incarnation, pages }) =>
      Array.from({ length: pages }, (_, page) => pageKey(root.group, incarnation, page)),
    );
    for (const [key, text] of await this.parts.texts.readMany(keys)) {
      await this.parts.texts.write(key, text, undefined);
    }
  }
}

/** @throws CorruptRecordError, NewerRecordError */
export function foundIn(text: string | undefined): Found | undefined {
  return text === undefined ? undefined : { root: decodeGroupRoot(text), text };
}

function readable(text: string): GroupRoot[] {
  try {
    return [decodeGroupRoot(text)];
  } catch {
    return [];
  }
}

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
