import { InvalidOptionsError, lastGrantOf, nextToken } from '../../core/decision/index.js';
import type { Cancellation } from './task-parts.js';
import { LARGEST_GROUP, type MemberName } from './task-id.js';

/**
 * A group of tasks: a root, and pages with a bit per member. A member that has ended sets its bit first, and then looks at
 * the root. So the last one surely finds all bits, whatever the order.
 *
 * | state     | it means                                             | next                                      |
 * | --------- | ---------------------------------------------------- | ----------------------------------------- |
 * | `open`    | members may still end                                | `joining`, when all bits of `total` are set |
 * | `joining` | all have ended; the task of the group's handler runs | `closed`, when that task has ended        |
 * | `closed`  | nothing is left to do                                | a new incarnation, or removed with the join task |
 *
 * The root comes before the first member. So a crash between both leaves an `open` one without members, which is `closed`
 * after a day: see `abandoned-groups.ts`.
 *
 * A group of no members has a task as well, number 0, which has ended before it began. It has no bit, and leads to the same
 * steps as the last member's end, also after a crash.
 */
export interface GroupRoot {
  /** Id of the group: `import[2026-06]`. */
  readonly group: string;
  readonly type: string;
  readonly nonce: string;
  readonly incarnation: number;
  readonly state: 'open' | 'joining' | 'closed';
  /** Number of members; absent until a submission said it. */
  readonly total?: number;
  /**
   * While the total is not known, no member has a higher number. Of a group of sub-tasks it is the highest number, which is
   * the total when their parent has ended. Of others it is rounded up, so that not each new member writes the root.
   */
  readonly highest?: number;
  /**
   * Pages of which members were submitted, in order: each one is noted before its first member is made. All others need no
   * look, however large the total is that a submission said.
   */
  readonly begun: readonly number[];
  /** Pages of which all members have ended. Only pages that are full count, so a root changes once per page. */
  readonly full: readonly number[];
  /** Present if all members that have not ended must end as cancelled, also those that are submitted later. */
  readonly stopped?: Cancellation;
  /** Ids of tasks that may wait for the end of this incarnation. */
  readonly dependents?: readonly string[];
  /** The incarnation before: a late write may bring back one of its pages after they were removed. */
  readonly former?: PagedIncarnation;
}

interface PagedIncarnation {
  readonly incarnation: number;
  /** It has no more pages than these. */
  readonly pages: number;
}

/** Members that have ended, of one page of one incarnation. */
export interface EndedMembersPage {
  readonly nonce: string;
  readonly ended: Bits;
  /** Those of them that did not complete. */
  readonly failed: Bits;
}

/** Bits of one page. */
export const PAGE_BITS = 1024;

/** A set of places in a page, as a text of base 64. Places count from 0. */
export class Bits {
  constructor(private readonly bytes: Uint8Array = new Uint8Array(PAGE_BITS / 8)) {}

  static parse(text: string): Bits {
    const bytes = new Uint8Array(PAGE_BITS / 8);
    bytes.set(Buffer.from(text, 'base64').subarray(0, bytes.length));
    return new Bits(bytes);
  }

  has(place: number): boolean {
    return (this.bytes[place >> 3]! & (1 << (place & 7))) !== 0;
  }

  with(places: Iterable<number>): Bits {
    const bytes = this.bytes.slice();
    for (const place of places) bytes[place >> 3]! |= 1 << (place & 7);
    return new Bits(bytes);
  }

  /** Number of places in the set. */
  get size(): number {
    let size = 0;
    for (let place = 0; place < PAGE_BITS; place++) if (this.has(place)) size++;
    return size;
  }

  /** Whether the first `count` places are in the set. */
  covers(count: number): boolean {
    for (let place = 0; place < count; place++) if (!this.has(place)) return false;
    return true;
  }

  toString(): string {
    return Buffer.from(this.bytes).toString('base64');
  }
}

/** Numbers for which a root gets room at once. */
const ROOM = 100;

type Opening = Pick<MemberName, 'number' | 'total'>;

export const EMPTY_PAGE: Omit<EndedMembersPage, 'nonce'> = { ended: new Bits(), failed: new Bits() };

/** A new group, or a new incarnation of one that is closed. */
export function openRoot(
  group: string,
  type: string,
  former: GroupRoot | undefined,
  { now, nonce, ...first }: { readonly now: number; readonly nonce: string } & Opening,
): GroupRoot {
  const incarnation = nextToken(former?.incarnation ?? 0, now);
  return withMember(newRoot({ group, type, incarnation }, former), first, nonce);
}

/** Whether a root knows the total, or has room for the number of a member, so that the member need not write it. */
export function knows(root: GroupRoot, { number, total }: Opening): boolean {
  if (number > 0 && !root.begun.includes(placeOf(number).page)) return false;
  return root.total !== undefined || (total === undefined && number <= (root.highest ?? 0));
}

/** The root after a member of a group that is no sub-task: with the total, or with room for its number. */
export function withMember(root: GroupRoot, { number, total }: Opening, nonce: string): GroupRoot {
  const begun = withPages(root.begun, [number]);
  if (total !== undefined || root.total !== undefined) return { ...root, begun, total: root.total ?? total!, nonce };
  const highest = Math.min(LARGEST_GROUP, Math.ceil(number / ROOM) * ROOM);
  return { ...root, begun, highest: Math.max(root.highest ?? 0, highest), nonce };
}

/** The pages with those of these members. */
function withPages(begun: readonly number[], numbers: readonly number[]): readonly number[] {
  const placed = numbers.filter((number) => number > 0);
  const added = placed.map((number) => placeOf(number).page).filter((page) => !begun.includes(page));
  return added.length === 0 ? begun : [...new Set([...begun, ...added])].toSorted((a, b) => a - b);
}

/**
 * Numbers above a total that a member may have, which was submitted before the total was known. Only the last ones: the root got
 * room for one of them.
 */
export function numbersAbove(total: number, { highest = 0 }: GroupRoot): number[] {
  const first = Math.max(total, highest - ROOM) + 1;
  return Array.from({ length: Math.max(0, highest - first + 1) }, (_, index) => first + index);
}

/** A group without members. Its nonce comes with the write. @param former its root before */
export function newRoot(of: Pick<GroupRoot, 'group' | 'type' | 'incarnation'>, former: Paged | undefined): GroupRoot {
  const root: GroupRoot = { ...of, nonce: '', state: 'open', begun: [], full: [] };
  const paged = former && pagesIn(former);
  return paged && paged.pages > 0 ? { ...root, former: paged } : root;
}

/** The part of a root that says which pages there may be. */
export type Paged = Pick<GroupRoot, 'group' | 'incarnation' | 'total' | 'highest' | 'former'>;

function pagesIn({ incarnation, total, highest = 0 }: Paged): PagedIncarnation {
  return { incarnation, pages: pagesOf(total ?? highest) };
}

/** The incarnations of which pages may be in the store. */
export function incarnationsOf(root: Paged): PagedIncarnation[] {
  return root.former ? [pagesIn(root), root.former] : [pagesIn(root)];
}

/**
 * The root of a group of sub-tasks after these were submitted: with the total, or the highest number.
 *
 * @throws InvalidOptionsError if one of them, or one before, does not fit the total
 */
export function withBegun(
  root: GroupRoot,
  begun: readonly { readonly number?: number; readonly total?: number }[],
): GroupRoot {
  const numbers = begun.flatMap(({ number }) => number ?? []);
  const pages = withPages(root.begun, numbers);
  const total = root.total ?? begun.find((each) => each.total !== undefined)?.total;
  const highest = begun.reduce((most, { number = 0 }) => Math.max(most, number), root.highest ?? 0);
  if (total === undefined) return highest > 0 ? { ...root, begun: pages, highest } : root;
  // A member that was submitted before must not be left out.
  if (root.total === undefined) expectAgreement({ ...root, total }, { number: highest });
  return { ...root, begun: pages, total };
}

/** The number of the page of a member, and its place there. */
export function placeOf(number: number): { readonly page: number; readonly place: number } {
  return { page: Math.floor((number - 1) / PAGE_BITS), place: (number - 1) % PAGE_BITS };
}

export function pagesOf(total: number): number {
  return Math.ceil(total / PAGE_BITS);
}

/** The pages of a group. */
export function indexesOf(total: number): number[] {
  return Array.from({ length: pagesOf(total) }, (_, page) => page);
}

/** Whether all members of a page have ended. */
export function isFull(page: Pick<EndedMembersPage, 'ended'> | undefined, index: number, total: number): boolean {
  return page !== undefined && page.ended.covers(Math.min(PAGE_BITS, total - index * PAGE_BITS));
}

/** Numbers of a page that have not ended. @param page absent: none has ended */
export function unendedOf(page: Pick<EndedMembersPage, 'ended'> | undefined, index: number, total: number): number[] {
  const all = numbersOf(index, total);
  return page ? all.filter((number) => !page.ended.has(placeOf(number).place)) : all;
}

/** Numbers of a page, as far as the total goes. */
export function numbersOf(index: number, total: number): number[] {
  const first = index * PAGE_BITS + 1;
  return Array.from({ length: Math.max(0, Math.min(PAGE_BITS, total - first + 1)) }, (_, place) => first + place);
}

/** The first page from there on that has members which may not have ended. */
export function nextOpenPage({ begun, full }: GroupRoot, from: number): number | undefined {
  return begun.find((page) => page >= from && !full.includes(page));
}

/** The root after these pages were found full. */
export function withFull(root: GroupRoot, pages: readonly number[], nonce: string): GroupRoot {
  const full = [...new Set([...root.full, ...pages])].toSorted((a, b) => a - b);
  const isComplete = root.total !== undefined && full.length === pagesOf(root.total);
  return { ...root, full, nonce, ...(isComplete && { state: 'joining' }) };
}

/** When the present incarnation began: cluster time in ms. */
export function begunAt({ incarnation }: Pick<GroupRoot, 'incarnation'>): number {
  return lastGrantOf(incarnation) ?? 0;
}

/** @param age ms @param now cluster time in ms */
export function hasBeenOpenFor(root: GroupRoot, age: number, now: number): boolean {
  return now - begunAt(root) >= age;
}

/** Closed without the members that it was to have: otherwise all pages are full before its handler runs. */
export function wasAbandoned(root: GroupRoot): boolean {
  return root.state === 'closed' && root.full.length === 0 && !isWithoutMembers(root);
}

/** Whether it is known to have no members. */
export function isWithoutMembers({ total }: GroupRoot): boolean {
  return total === 0;
}

/** The same root if it is closed already. */
export function closed(root: GroupRoot, nonce: string): GroupRoot {
  return root.state === 'closed' ? root : { ...root, state: 'closed', nonce };
}

/** The same root if it is stopped already, or all members have ended. */
export function stopped(root: GroupRoot, author: Cancellation, nonce: string): GroupRoot {
  return root.stopped || root.state !== 'open' ? root : { ...root, stopped: author, nonce };
}

/** @throws InvalidOptionsError if a member does not fit the total */
export function expectAgreement(
  root: GroupRoot,
  { number = 0, total }: Partial<Pick<MemberName, 'number' | 'total'>>,
): void {
  const faults: string[] = [];
  if (root.total !== undefined && total !== undefined && total !== root.total) {
    faults.push(`total: ${total}, but another member said ${root.total}`);
  }
  if (root.total !== undefined && number > root.total) {
    faults.push(`number: ${number} is more than the total of ${root.total}`);
  }
  if (faults.length > 0) throw new InvalidOptionsError(`a task of group ${root.group}`, faults);
}
