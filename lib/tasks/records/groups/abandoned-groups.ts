import type { ClusterClock } from '../../../core/clock/cluster-clock.js';
import type { TextCells } from '../../../core/cell/text-cells.js';
import { OF_SUB_TASKS } from '../../rules/task-id.js';
import type { Stamp } from '../../rules/transitions.js';
import { type GroupRoot, closed, hasBeenOpenFor, isWithoutMembers } from '../../rules/group.js';
import { encodeGroupRoot, rootKey } from '../../rules/group.codec.js';
import { type Found, type GroupRecords, foundIn, type Members } from './group-records.js';

/** ms after its opening from which a group without members gets none any more. */
const ABANDONED = 86_400_000;
/** ms after its opening from which a submission does not rely on a root before it has found a member. */
const UNSURE = ABANDONED / 2;

export interface AbandonedParts {
  readonly texts: TextCells;
  readonly clusterClock: Pick<ClusterClock, 'isFresh' | 'latest'>;
  readonly stamp: () => Promise<Stamp>;
  /** A nonce. */
  readonly id: () => string;
  readonly members: Members;
}

/**
 * Groups whose first submission failed, or whose node died, after the root was written and before a member was. Without
 * another submission they would stay open, and the tasks that wait for their end would wait for ever.
 *
 *     opened ────────────────────▶ 12 h ──────────────────────────────▶ 24 h ──────────────────────────▶
 *     submissions rely on the root    they look for a member first         one without members is closed
 *                                     those from before end here
 *
 * So a root of 24 h without a member gets none any more: a submission that reads it now finds no member either, and closes
 * it, too, to begin the next incarnation.
 */
export class AbandonedGroups {
  constructor(
    private readonly records: GroupRecords,
    private readonly parts: AbandonedParts,
  ) {}

  /**
   * Call this before a submission relies on a root. One that is unsure and abandoned is closed.
   *
   * @returns whether it is not as it was found any more
   * @throws as {@link look}
   */
  async isClosedNow(found: Found): Promise<boolean> {
    if (!(await this.#isAbandoned(found.root, UNSURE))) return false;
    await this.#close(found);
    return true;
  }

  /**
   * Closes a group that was abandoned. The record stays, and does no harm.
   *
   * @returns its root if it was closed, or if the group is known to have no members
   * @throws StoreUnavailableError, UnknownOutcomeError, CorruptRecordError, NewerRecordError
   */
  async look(group: string): Promise<GroupRoot | undefined> {
    const found = await this.records.root(group);
    if (!found || isWithoutMembers(found.root)) return found?.root;
    if (!(await this.#isAbandoned(found.root, ABANDONED))) return undefined;
    const root = (await this.#close(found))?.root;
    return root?.state === 'closed' ? root : undefined;
  }

  /** Whether a group is open, and has no member in the store. @throws as {@link look} */
  async isEmpty(group: string): Promise<boolean> {
    const root = (await this.records.root(group))?.root;
    return root?.state === 'open' && !(await this.parts.members.hasAny(root));
  }

  async #isAbandoned(root: GroupRoot, age: number): Promise<boolean> {
    if (!isOpen(root)) return false;
    if (!this.parts.clusterClock.isFresh) await this.parts.stamp();
    return this.#isOlder(root, age) && !(await this.parts.members.hasAny(root));
  }

  #isOlder(root: GroupRoot, age: number): boolean {
    return hasBeenOpenFor(root, age, this.parts.clusterClock.latest());
  }

  /** @returns the root as it stands then */
  async #close({ root, text }: Found): Promise<Found | undefined> {
    const next = closed(root, this.parts.id());
    const nextText = encodeGroupRoot(next);
    const written = await this.parts.texts.write(rootKey(root.group), text, nextText);
    return written.isWritten ? { root: next, text: nextText } : foundIn(written.found);
  }
}

/** The parent of a group of sub-tasks ends it, so that is never abandoned. */
function isOpen({ state, group, type }: GroupRoot): boolean {
  return state === 'open' && !group.startsWith(OF_SUB_TASKS, type.length + 1);
}
