import type { Slices } from '../../async/slices.js';
import type { ConditionalTexts } from '../conditional-texts.js';
import type { GroupCounts, Incarnation, Member } from '../task.js';
import { type MemberName, groupId } from '../task-id.js';
import type { Stamp } from '../transitions.js';
import { MOST_KEYS } from '../../stores/index.js';
import { SharedWork } from '../shared-work.js';
import {
  EMPTY_PAGE,
  type GroupPage,
  type GroupRoot,
  closed,
  expectAgreement,
  indexesOf,
  isFull,
  newRoot,
  openRoot,
  pagesOf,
  placeOf,
  withBegun,
  withFull,
  withTotal,
} from './group.js';
import { decodePage, decodeRoot, encodePage, encodeRoot, pageKey, rootKey } from './group.codec.js';

export interface GroupsParts {
  readonly texts: ConditionalTexts;
  readonly stamp: () => Promise<Stamp>;
  /** A nonce. */
  readonly id: () => string;
  readonly slices: Pick<Slices, 'turn'>;
}

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

/** A sub-task, or a parent, that needs a group of this incarnation. */
interface Begin extends Pick<Look, 'group' | 'incarnation'> {
  readonly type: string;
  readonly number?: number;
  readonly total?: number;
}

/** A root as it stands in the store. */
interface Found {
  readonly root: GroupRoot;
  readonly text: string;
}

/**
 * The records of groups. Members that end at the same time in this process share one write of their page, and one look at
 * the root.
 */
export class Groups {
  readonly #marks = new SharedWork<EndedMember>((key, ended) => this.#mark(key, ended));
  readonly #begins = new SharedWork<Begin, boolean>((_key, begins) => this.#begin(begins));
  readonly #looks = new SharedWork<Look, boolean>((_key, looks) => this.#look(looks));

  constructor(readonly parts: GroupsParts) {}

  /**
   * Opens the group of a member: makes the root, or a new incarnation if the former one is closed, and notes the total.
   *
   * @param mayBegin asked before a closed group begins a new incarnation
   * @returns undefined if none may be made
   * @throws InvalidOptionsError if members disagree on the total
   * @throws StoreUnavailableError, UnknownOutcomeError, CorruptRecordError, NewerRecordError
   */
  async open(
    type: string,
    { group: name, number, total }: MemberName,
    mayBegin: () => Promise<boolean>,
  ): Promise<Member | undefined> {
    const group = groupId(type, name);
    for (let found = await this.#root(group); ;) {
      const root = found?.root.state === 'closed' ? undefined : found?.root;
      if (root) {
        expectAgreement(root, { number, total });
        const { incarnation } = root;
        if (total === undefined || root.total !== undefined) return { group: name, number, incarnation };
      } else if (found) {
        if (!(await mayBegin())) return undefined;
        await this.#removePages(found.root);
      }
      const { now, nonce } = await this.parts.stamp();
      const next = root ? withTotal(root, total!, nonce) : openRoot(group, type, found?.root, { now, nonce, total });
      const written = await this.parts.texts.write(rootKey(group), found?.text, encodeRoot(next));
      if (written.isWritten) return { group: name, number, incarnation: next.incarnation };
      found = foundIn(written.found);
    }
  }

  /**
   * Opens a group whose incarnation is that of a parent, and notes its highest number or its total. Idempotent: a member of
   * a group that is closed stays its member.
   *
   * @returns false if there is a later incarnation: the parent has ended
   * @throws as {@link open}
   */
  begin(
    type: string,
    { group: name, incarnation }: Incarnation,
    asked: Pick<Begin, 'number' | 'total'>,
  ): Promise<boolean> {
    const group = groupId(type, name);
    return this.#begins.share(`${incarnation}:${group}`, { type, group, incarnation, ...asked });
  }

  /** Numbers up to `total` that have not ended. */
  async unended(type: string, { group: name, incarnation }: Incarnation, total: number): Promise<number[]> {
    const pages = await this.#pages(groupId(type, name), incarnation, indexesOf(total));
    return Array.from({ length: total }, (_, index) => index + 1).filter((number) => {
      const { page, place } = placeOf(number);
      return !pages.get(page)?.ended.has(place);
    });
  }

  /**
   * Notes that a member has ended. Call it again after an error: it has no further effect.
   *
   * @returns whether all members of its incarnation have ended, and the group's handler may not have run yet
   * @throws StoreUnavailableError, UnknownOutcomeError, CorruptRecordError, NewerRecordError
   */
  async ended(type: string, { group: name, number, incarnation }: Member, hasFailed: boolean): Promise<boolean> {
    const group = groupId(type, name);
    const { page } = placeOf(number);
    await this.#marks.share(pageKey(group, incarnation, page), { group, incarnation, number, hasFailed });
    // The root is read after the own bit is written. Otherwise two members could both miss that the other has ended.
    return this.#looks.share(`${incarnation}:${group}`, { group, incarnation, page });
  }

  /** {@link ended} for all members at once. Call it when a total was noted, because all may have ended before. */
  haveEnded(type: string, { group: name, incarnation }: Incarnation): Promise<boolean> {
    const group = groupId(type, name);
    return this.#looks.share(`${incarnation}:${group}`, { group, incarnation });
  }

  /** The root of this incarnation, if it is the latest one of the group and remembered. */
  async find(type: string, { group: name, incarnation }: Incarnation): Promise<GroupRoot | undefined> {
    const found = await this.#root(groupId(type, name));
    return found?.root.incarnation === incarnation ? found.root : undefined;
  }

  /** Whether the handler of this incarnation is still to run. */
  async isJoining(type: string, incarnation: Incarnation): Promise<boolean> {
    return (await this.find(type, incarnation))?.state === 'joining';
  }

  /** Whether the incarnation is closed, or gone. Until then its members must be remembered. */
  isOver(type: string, { group: name, incarnation }: Incarnation): Promise<boolean> {
    return this.#isOver(groupId(type, name), incarnation);
  }

  /** Closes the incarnation after its handler has run. Idempotent. */
  async close(type: string, { group: name, incarnation }: Incarnation): Promise<void> {
    const group = groupId(type, name);
    for (let found = await this.#root(group); found;) {
      if (found.root.incarnation !== incarnation || found.root.state === 'closed') return;
      const next = encodeRoot(closed(found.root, this.parts.id()));
      const written = await this.parts.texts.write(rootKey(group), found.text, next);
      if (written.isWritten) return;
      found = foundIn(written.found);
    }
  }

  /** The counts of an incarnation of which all members have ended. */
  async counts(type: string, { group: name, incarnation }: Incarnation): Promise<GroupCounts> {
    const group = groupId(type, name);
    const found = await this.#root(group);
    const total = found?.root.incarnation === incarnation ? (found.root.total ?? 0) : 0;
    const pages = await this.#pages(group, incarnation, indexesOf(total));
    const failed = [...pages.values()].reduce((sum, page) => sum + page.failed.size, 0);
    return { total, failed };
  }

  /** Removes what is left of a closed incarnation. Idempotent. The join task must go last. */
  async remove(type: string, { group: name, incarnation }: Incarnation): Promise<void> {
    const group = groupId(type, name);
    const found = await this.#root(group);
    if (!found || found.root.incarnation !== incarnation || found.root.state !== 'closed') return;
    await this.#removePages(found.root);
    // Another submission may have opened the next incarnation meanwhile: then the root stays.
    await this.parts.texts.write(rootKey(group), found.text, undefined);
  }

  async #removePages({ group, incarnation, total = 0 }: GroupRoot): Promise<void> {
    for (let page = 0; page < pagesOf(total); page++) {
      const key = pageKey(group, incarnation, page);
      const text = await this.parts.texts.read(key);
      if (text !== undefined) await this.parts.texts.write(key, text, undefined);
    }
  }

  async #begin(begins: readonly Begin[]): Promise<boolean> {
    const { group, type, incarnation } = begins[0]!;
    for (let found = await this.#root(group); ;) {
      const former = found?.root;
      if (former && former.incarnation > incarnation) return false;
      const root = former?.incarnation === incarnation ? former : undefined;
      if (root) for (const begin of begins) expectAgreement(root, begin);
      const next = { ...withBegun(root ?? newRoot({ group, type, incarnation }), begins), nonce: this.parts.id() };
      if (root && next.total === root.total && next.highest === root.highest) return true;
      if (former && !root) await this.#removePages(former);
      const text = encodeRoot(next);
      const written = await this.parts.texts.write(rootKey(group), found?.text, text);
      found = written.isWritten ? { root: next, text } : foundIn(written.found);
    }
  }

  async #mark(key: string, ended: readonly EndedMember[]): Promise<void> {
    const places = ended.map(({ number }) => placeOf(number).place);
    const failed = ended.filter(({ hasFailed }) => hasFailed).map(({ number }) => placeOf(number).place);
    const { group, incarnation } = ended[0]!;
    for (let text = await this.parts.texts.read(key); ;) {
      // After the end of the incarnation its pages were removed, and a new page would stay.
      if (text === undefined && (await this.#isOver(group, incarnation))) return;
      const page = text === undefined ? EMPTY_PAGE : decodePage(text);
      if (places.every((place) => page.ended.has(place))) return;
      const next = { nonce: this.parts.id(), ended: page.ended.with(places), failed: page.failed.with(failed) };
      const written = await this.parts.texts.write(key, text, encodePage(next));
      if (written.isWritten) return;
      text = written.found;
    }
  }

  /** Looks whether all members have ended, and notes it in the root. */
  async #look(looks: readonly Look[]): Promise<boolean> {
    const { group, incarnation } = looks[0]!;
    for (let found = await this.#root(group); found;) {
      const { root, text } = found;
      if (root.incarnation !== incarnation || root.state === 'closed') return false;
      if (root.state === 'joining') return true;
      if (root.total === undefined) return false;
      const full = await this.#fullPages(root, looks);
      if (full.length === 0) return false;
      const next = withFull(root, full, this.parts.id());
      const written = await this.parts.texts.write(rootKey(group), text, encodeRoot(next));
      if (written.isWritten) return next.state === 'joining';
      found = foundIn(written.found);
    }
    return false;
  }

  /**
   * The pages that are full and not noted as such. If a page of the members that have just ended is full, all others count,
   * too: their last members may have ended before the total was known.
   */
  async #fullPages({ group, incarnation, total = 0, full }: GroupRoot, looks: readonly Look[]): Promise<number[]> {
    const find = async (candidates: readonly number[]) => {
      const pages = await this.#pages(group, incarnation, candidates);
      return candidates.filter((page) => isFull(pages.get(page), page, total));
    };
    const open = indexesOf(total).filter((page) => !full.includes(page));
    const own = new Set(looks.map(({ page }) => page));
    if (!own.has(undefined) && (await find(open.filter((page) => own.has(page)))).length === 0) return [];
    return find(open);
  }

  async #isOver(group: string, incarnation: number): Promise<boolean> {
    const found = await this.#root(group);
    return !found || found.root.incarnation !== incarnation || found.root.state === 'closed';
  }

  async #root(group: string): Promise<Found | undefined> {
    return foundIn(await this.parts.texts.read(rootKey(group)));
  }

  async #pages(group: string, incarnation: number, indexes: readonly number[]): Promise<Map<number, GroupPage>> {
    const pages = new Map<number, GroupPage>();
    for (let begin = 0; begin < indexes.length; begin += MOST_KEYS) {
      const batch = indexes.slice(begin, begin + MOST_KEYS);
      const texts = await this.parts.texts.readMany(batch.map((page) => pageKey(group, incarnation, page)));
      for (const page of batch) {
        await this.parts.slices.turn();
        const text = texts.get(pageKey(group, incarnation, page));
        if (text !== undefined) pages.set(page, decodePage(text));
      }
    }
    return pages;
  }
}

function foundIn(text: string | undefined): Found | undefined {
  return text === undefined ? undefined : { root: decodeRoot(text), text };
}
