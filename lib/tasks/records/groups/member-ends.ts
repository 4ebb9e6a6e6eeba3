import type { TextCells } from '../../../core/cell/text-cells.js';
import { SharedWork } from '../../../core/async/shared-work.js';
import {
  EMPTY_PAGE,
  type GroupRoot,
  indexesOf,
  isFull,
  isWithoutMembers,
  placeOf,
  withFull,
} from '../../rules/group.js';
import { decodePage, decodeGroupRoot, encodePage, encodeGroupRoot, pageKey, rootKey } from '../../rules/group.codec.js';
import type { GroupRecords } from './group-records.js';

interface EndedMember extends Pick<Look, 'group' | 'incarnation'> {
  readonly number: number;
  readonly hasFailed: boolean;
}

/** A look at the root of an incarnation after a member of `page` has ended; without a page after the total was noted. */
interface Look {
  readonly group: string;
  readonly incarnation: number;
  readonly page?: number;
}

/**
 * Notes which members of groups have ended. Members that end at the same time in this process share one write of their
 * page, and one look at the root.
 */
export class MemberEnds {
  readonly #marks = new SharedWork<EndedMember>((key, ended) => this.#mark(key, ended));
  readonly #looks = new SharedWork<Look, boolean>((_key, looks) => this.#look(looks));

  constructor(
    private readonly records: GroupRecords,
    private readonly parts: { readonly texts: TextCells; readonly id: () => string },
  ) {}

  /** @returns whether all members have ended @throws as {@link Groups.ended} */
  async ended(group: string, incarnation: number, number: number, hasFailed: boolean): Promise<boolean> {
    // A group without members has no page.
    if (number === 0) return this.haveEnded(group, incarnation);
    const { page } = placeOf(number);
    await this.#marks.share(pageKey(group, incarnation, page), { group, incarnation, number, hasFailed });
    // The root is read after the own bit is written. Otherwise two members could both miss that the other has ended.
    return this.#looks.share(`${incarnation}:${group}`, { group, incarnation, page });
  }

  /** @throws as {@link Groups.ended} */
  haveEnded(group: string, incarnation: number): Promise<boolean> {
    return this.#looks.share(`${incarnation}:${group}`, { group, incarnation });
  }

  async #mark(key: string, ended: readonly EndedMember[]): Promise<void> {
    const places = ended.map(({ number }) => placeOf(number).place);
    const failed = ended.filter(({ hasFailed }) => hasFailed).map(({ number }) => placeOf(number).place);
    const { group, incarnation } = ended[0]!;
    await this.parts.texts.change<void>(key, async (text) => {
      // After the end of the incarnation its pages were removed, and a new page would stay.
      if (text === undefined && (await this.records.isOver(group, incarnation))) return { result: undefined };
      const page = text === undefined ? EMPTY_PAGE : decodePage(text);
      if (places.every((place) => page.ended.has(place))) return { result: undefined };
      const next = { nonce: this.parts.id(), ended: page.ended.with(places), failed: page.failed.with(failed) };
      return { write: encodePage(next), done: () => undefined };
    });
  }

  /** Looks whether all members have ended, and notes it in the root. */
  async #look(looks: readonly Look[]): Promise<boolean> {
    const { group, incarnation } = looks[0]!;
    return this.parts.texts.change<boolean>(rootKey(group), async (text) => {
      const root = text === undefined ? undefined : decodeGroupRoot(text);
      if (root?.incarnation !== incarnation || root.state === 'closed') return { result: false };
      if (root.state === 'joining') return { result: true };
      if (root.total === undefined) return { result: false };
      const full = await this.#fullPages(root, looks);
      if (full.length === 0 && !isWithoutMembers(root)) return { result: false };
      const next = withFull(root, full, this.parts.id());
      return { write: encodeGroupRoot(next), done: () => next.state === 'joining' };
    });
  }

  /**
   * The pages that are full and not noted as such. If a page of the members that have just ended is full, all others count,
   * too: their last members may have ended before the total was known.
   */
  async #fullPages({ group, incarnation, total = 0, full }: GroupRoot, looks: readonly Look[]): Promise<number[]> {
    const find = async (candidates: readonly number[]) => {
      const pages = await this.records.pages(group, incarnation, candidates);
      return candidates.filter((page) => isFull(pages.get(page), page, total));
    };
    const open = indexesOf(total).filter((page) => !full.includes(page));
    const own = new Set(looks.map(({ page }) => page));
    if (!own.has(undefined) && (await find(open.filter((page) => own.has(page)))).length === 0) return [];
    return find(open);
  }
}
