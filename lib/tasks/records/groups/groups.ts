import type { Slices } from '../../../core/async/slices.js';
import type { Incarnation, Member } from '../../rules/task.js';
import { type MemberName, groupId, memberId } from '../../rules/task-id.js';
import { SharedWork } from '../../../core/async/shared-work.js';
import type { Stamp } from '../../rules/transitions.js';
import { AbandonedGroups, type AbandonedParts } from './abandoned-groups.js';
import {
  type GroupRoot,
  closed,
  expectAgreement,
  indexesOf,
  knows,
  newRoot,
  numbersAbove,
  openRoot,
  stopped,
  unendedOf,
  withBegun,
  withMember,
} from '../../rules/group.js';
import { decodeGroupRoot, encodeGroupRoot, rootKey } from '../../rules/group.codec.js';
import { type FoundRoots, GroupRecords, foundIn } from './group-records.js';
import { MemberEnds } from './member-ends.js';
import type { Cancellation, GroupCounts } from '../../rules/task-parts.js';

interface GroupsParts extends AbandonedParts {
  readonly slices: Pick<Slices, 'turn'>;
}

/** A sub-task, or a parent, that needs a group of this incarnation. */
interface Begin extends Incarnation {
  readonly type: string;
  readonly number?: number;
  readonly total?: number;
}

/** A member whose group is to be open. */
interface Opening {
  readonly type: string;
  readonly name: MemberName;
  /** Asked before a closed group begins a new incarnation. */
  readonly mayBegin: () => Promise<boolean>;
}

/** The root after an opening; undefined if the member may not be made, and its error if it can't be. */
type Outcome = { readonly root?: GroupRoot | undefined } | { readonly error: unknown };

/** The place of a member in a group that is open. */
export interface Opened {
  readonly member: Member;
  /** Present if the member must end at once. */
  readonly stopped?: Cancellation;
}

/** The groups of tasks in the store. {@link MemberEnds} notes the ends of their members. */
export class Groups {
  /** Those without members. */
  readonly abandoned: AbandonedGroups;
  readonly #begins = new SharedWork<Begin, GroupRoot | undefined>((_key, begins) => this.#begin(begins));
  readonly #opens = new SharedWork<Opening, ReadonlyMap<Opening, Outcome>>((group, openings) =>
    this.#open(group, openings),
  );
  readonly #records: GroupRecords;
  readonly #ends: MemberEnds;

  constructor(readonly parts: GroupsParts) {
    this.#records = new GroupRecords(parts);
    this.#ends = new MemberEnds(this.#records, parts);
    this.abandoned = new AbandonedGroups(this.#records, parts);
  }

  /**
   * Opens the group of a member: makes the root, or a new incarnation if the former one is closed, and notes the total, or
   * the highest number. Members of one group that come at the same time share one write: one of each would wait for all
   * others, and give up if the store is slow.
   *
   * @param mayBegin asked before a closed group begins a new incarnation
   * @returns the place of the member; undefined if none may be made
   * @throws InvalidOptionsError if members disagree on the total
   * @throws StoreUnavailableError, UnknownOutcomeError, CorruptRecordError, NewerRecordError
   */
  async open(type: string, name: MemberName, mayBegin: () => Promise<boolean>): Promise<Opened | undefined> {
    const opening: Opening = { type, name, mayBegin };
    const outcome = (await this.#opens.share(groupId(type, name.group), opening)).get(opening)!;
    if ('error' in outcome) throw outcome.error;
    if (!outcome.root) return undefined;
    const { incarnation, stopped } = outcome.root;
    return { member: { group: name.group, number: name.number, incarnation }, ...(stopped && { stopped }) };
  }

  async #open(group: string, openings: readonly Opening[]): Promise<ReadonlyMap<Opening, Outcome>> {
    return this.parts.texts.change<ReadonlyMap<Opening, Outcome>>(rootKey(group), async (text) => {
      const found = foundIn(text);
      if (found && (await this.abandoned.isClosedNow(found))) return { isChanged: true };
      const former = found?.root.state === 'closed' ? undefined : found?.root;
      const { root, outcomes } = await this.#openAll(openings, former, found?.root);
      if (!root || root === former) return { result: outcomes };
      if (found && !former) await this.#records.removePages(found.root);
      return { write: encodeGroupRoot(root), done: () => outcomes };
    });
  }

  /** @param open the root, if it is open @param found the root that was found */
  async #openAll(openings: readonly Opening[], open: GroupRoot | undefined, found: GroupRoot | undefined) {
    const stamp = await this.parts.stamp();
    const outcomes = new Map<Opening, Outcome>();
    const asked = new Map<Opening, Promise<boolean>>();
    let root = open;
    for (const opening of openings) {
      const mayBegin = () => asked.get(opening) ?? opening.mayBegin();
      const opened = this.#opened(root, found, { ...opening, mayBegin }, stamp);
      const outcome = await opened.catch((error: unknown) => ({ error }));
      outcomes.set(opening, outcome);
      if ('root' in outcome) root = outcome.root ?? root;
      // If the first one may not begin it, mostly none may: the others are asked together.
      if (!root && asked.size === 0) {
        for (const other of openings) if (!outcomes.has(other)) asked.set(other, observed(other.mayBegin()));
      }
    }
    return { root, outcomes };
  }

  /** @param root the open one, if there is one @param closed the former incarnation otherwise */
  async #opened(
    root: GroupRoot | undefined,
    closed: GroupRoot | undefined,
    { type, name: { group, number, total }, mayBegin }: Opening,
    { now, nonce }: Stamp,
  ): Promise<Outcome> {
    if (!root && closed && !(await mayBegin())) return { root: undefined };
    if (!root) return { root: openRoot(groupId(type, group), type, closed, { now, nonce, number, total }) };
    expectAgreement(root, { number, total });
    if (knows(root, { number, total })) return { root };
    if (total !== undefined) await this.#expectNoneAbove(root, type, { group, total });
    return { root: withMember(root, { number, total }, nonce) };
  }

  /**
   * Opens a group whose incarnation is that of a parent, and notes its highest number or its total. Idempotent: a member of
   * a group that is closed stays its member.
   *
   * @returns its root; undefined if there is a later incarnation: the parent has ended
   * @throws as {@link open}
   */
  begin(
    type: string,
    { group: name, incarnation }: Incarnation,
    asked: Pick<Begin, 'number' | 'total'>,
  ): Promise<GroupRoot | undefined> {
    const group = groupId(type, name);
    return this.#begins.share(`${incarnation}:${group}`, { type, group, incarnation, ...asked });
  }

  /** Numbers up to `total` that have not ended. */
  async unended(type: string, { group: name, incarnation }: Incarnation, total: number): Promise<number[]> {
    const indexes = indexesOf(total);
    const pages = await this.#records.pages(groupId(type, name), incarnation, indexes);
    const numbers: number[] = [];
    for (const index of indexes) {
      await this.parts.slices.turn();
      numbers.push(...unendedOf(pages.get(index), index, total));
    }
    return numbers;
  }

  /** Numbers of one page that have not ended, as far as the total goes. */
  async unendedOn({ group, incarnation, total = Infinity }: GroupRoot, index: number): Promise<number[]> {
    return unendedOf((await this.#records.pages(group, incarnation, [index])).get(index), index, total);
  }

  /** The root of the latest incarnation, if the group is remembered. */
  async latest(type: string, name: string): Promise<GroupRoot | undefined> {
    return (await this.#records.root(groupId(type, name)))?.root;
  }

  /**
   * Notes that a member has ended. Call it again after an error: it has no further effect.
   *
   * @returns whether all members of its incarnation have ended, and the group's handler may not have run yet
   * @throws StoreUnavailableError, UnknownOutcomeError, CorruptRecordError, NewerRecordError
   */
  async ended(type: string, { group: name, number, incarnation }: Member, hasFailed: boolean): Promise<boolean> {
    return this.#ends.ended(groupId(type, name), incarnation, number, hasFailed);
  }

  /** {@link ended} for all members at once. Call it when a total was noted, because all may have ended before. */
  haveEnded(type: string, { group: name, incarnation }: Incarnation): Promise<boolean> {
    return this.#ends.haveEnded(groupId(type, name), incarnation);
  }

  /** The root of this incarnation, if it is the latest one of the group and remembered. */
  async find(type: string, { group: name, incarnation }: Incarnation): Promise<GroupRoot | undefined> {
    const found = await this.#records.root(groupId(type, name));
    return found?.root.incarnation === incarnation ? found.root : undefined;
  }

  /** Whether the handler of this incarnation is still to run. */
  async isJoining(type: string, incarnation: Incarnation): Promise<boolean> {
    return (await this.find(type, incarnation))?.state === 'joining';
  }

  /** Whether the incarnation is closed, or gone. Until then its members must be remembered. */
  isOver(type: string, { group: name, incarnation }: Incarnation): Promise<boolean> {
    return this.#records.isOver(groupId(type, name), incarnation);
  }

  /** Closes the incarnation after its handler has run. Idempotent. @returns whether it was stopped before */
  async close(type: string, of: Incarnation): Promise<boolean> {
    const root = await this.#change(type, of, (open) => closed(open, this.parts.id()));
    return root?.stopped !== undefined;
  }

  /**
   * Notes that all members that have not ended must end as cancelled. Idempotent: the first author stays.
   *
   * @returns the root; undefined if all have ended
   * @throws StoreUnavailableError, UnknownOutcomeError, CorruptRecordError, NewerRecordError
   */
  async stop(type: string, of: Incarnation, author: Cancellation): Promise<GroupRoot | undefined> {
    const root = await this.#change(type, of, (found) => stopped(found, author, this.parts.id()));
    return root?.state === 'open' ? root : undefined;
  }

  /** Changes the root of this incarnation, unless the change leaves it as it is. @returns the root; undefined if it is gone */
  async #change(
    type: string,
    { group: name, incarnation }: Incarnation,
    make: (root: GroupRoot) => GroupRoot,
  ): Promise<GroupRoot | undefined> {
    const group = groupId(type, name);
    return this.parts.texts.change<GroupRoot | undefined>(rootKey(group), (text) => {
      const root = text === undefined ? undefined : decodeGroupRoot(text);
      if (root?.incarnation !== incarnation) return { result: undefined };
      const next = make(root);
      return next === root ? { result: next } : { write: encodeGroupRoot(next), done: () => next };
    });
  }

  /** The counts of an incarnation of which all members have ended. */
  async counts(type: string, { group: name, incarnation }: Incarnation): Promise<GroupCounts> {
    const group = groupId(type, name);
    const found = await this.#records.root(group);
    const total = found?.root.incarnation === incarnation ? (found.root.total ?? 0) : 0;
    const pages = await this.#records.pages(group, incarnation, indexesOf(total));
    const failed = [...pages.values()].reduce((sum, page) => sum + page.failed.size, 0);
    return { total, failed };
  }

  /**
   * How many members of a root have ended. Reads all its pages.
   *
   * @throws StoreUnavailableError, CorruptRecordError, NewerRecordError
   */
  async progress({ group, incarnation, total, highest }: GroupRoot): Promise<{ ended: number; failed: number }> {
    const counts = { ended: 0, failed: 0 };
    const pages = await this.#records.pages(group, incarnation, indexesOf(total ?? highest ?? 0));
    for (const page of pages.values()) {
      counts.ended += page.ended.size;
      counts.failed += page.failed.size;
    }
    return counts;
  }

  /** The roots of groups by their ids. Those that are not remembered are left out; those that can't be read are counted. */
  roots(groups: readonly string[]): Promise<FoundRoots> {
    return this.#records.roots(groups);
  }

  /**
   * Removes what is left of a closed incarnation. Idempotent. The join task must go last.
   *
   * @param total number of members: a root that is gone does not say it, and neither does one that a late write has made
   * again. A late write may have made a page again as well.
   */
  async remove(type: string, { group: name, incarnation }: Incarnation, total = 0): Promise<void> {
    const group = groupId(type, name);
    const found = await this.#records.root(group);
    if (found?.root.incarnation !== incarnation) {
      return this.#records.removePages({ group, incarnation, total });
    }
    const { root } = found;
    if (root.state !== 'closed') return;
    await this.#records.removePages({ ...root, total: Math.max(root.total ?? root.highest ?? 0, total) });
    // Another submission may have opened the next incarnation meanwhile: then the root stays.
    await this.parts.texts.write(rootKey(group), found.text, undefined);
  }

  /** @throws InvalidOptionsError if a member was submitted before whose number is above the total */
  async #expectNoneAbove(root: GroupRoot, type: string, { group, total }: { group: string; total: number }) {
    const ids = numbersAbove(total, root).map((number) => memberId(type, group, number));
    const above = ids.length === 0 ? undefined : await this.parts.members.memberOf(root.incarnation, ids);
    if (above !== undefined) expectAgreement({ ...root, total }, { number: above.number });
  }

  async #begin(begins: readonly Begin[]): Promise<GroupRoot | undefined> {
    const { group, type, incarnation } = begins[0]!;
    return this.parts.texts.change<GroupRoot | undefined>(rootKey(group), async (text) => {
      const former = text === undefined ? undefined : decodeGroupRoot(text);
      if (former && former.incarnation > incarnation) return { result: undefined };
      const root = former?.incarnation === incarnation ? former : undefined;
      if (root) for (const begin of begins) expectAgreement(root, begin);
      const next = {
        ...withBegun(root ?? newRoot({ group, type, incarnation }, former), begins),
        nonce: this.parts.id(),
      };
      const isSame = root && next.begun === root.begun && next.total === root.total && next.highest === root.highest;
      if (isSame) return { result: root };
      if (former && !root) await this.#records.removePages(former);
      return { write: encodeGroupRoot(next), done: () => next };
    });
  }
}

/** The caller awaits the promise later and handles its error then. Without this, Node would report it as unhandled before. */
function observed<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
