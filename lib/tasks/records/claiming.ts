import type { Slices } from '../../core/async/slices.js';
import type { Context } from '../../core/context/context.js';
import { isUnreadable } from '../../core/cell/known-record.js';
import { isTarget } from '../rules/target.js';
import { Claim } from '../rules/claim.js';
import type { TextCells, TextStep } from '../../core/cell/text-cells.js';
import type { FairRotation } from './fair-rotation.js';
import type { Hints } from './hints.js';
import { leadsTo, placeOfText } from '../rules/task-place.js';
import type { Task } from '../rules/task.js';
import { decodeForHandler, decodeTask, encodeTask } from '../rules/task.codec.js';
import { type Claimant, type Stamp, claim } from '../rules/transitions.js';

/** Tasks with fair keys that a ticket tries to claim, while other nodes are faster. */
const MOST_TURNS = 8;
/** Tasks with fair keys that a ticket passes by, because this node can't read them. */
const MOST_UNREADABLE = 64;

const UNREADABLE = Symbol('unreadable');

/** The part of the store of tasks that claims need. */
interface ClaimingStore {
  readonly texts: Pick<TextCells, 'change'>;
  readonly turns: Pick<FairRotation, 'next'>;
  readonly hints: Pick<Hints, 'offer'>;
  readonly slices: Pick<Slices, 'turn'>;
  readonly context: Pick<Context, 'node'>;
  stamp(): Promise<Stamp>;
}

/** Claims tasks by their hints. */
export class Claiming {
  /** Ids of tasks that this node claims now, with whether it got them. */
  readonly #current = new Map<string, Promise<boolean>>();

  constructor(private readonly store: ClaimingStore) {}

  /** @throws as `TaskStore.claim` */
  async claim(hint: string, by: Claimant): Promise<Claim | undefined> {
    const { turns, hints } = this.store;
    const place = placeOfText(hint);
    if (place?.kind !== 'fair') return this.#claim(hint, by);
    let [taken, unreadable] = [0, 0];
    while (taken < MOST_TURNS && unreadable < MOST_UNREADABLE) {
      const text = await turns.next(place);
      if (text === undefined) return undefined;
      const claimed = await this.#claimReadable(text, by);
      if (claimed instanceof Claim) return claimed;
      if (claimed === UNREADABLE) unreadable++;
      else taken++;
    }
    // Other nodes were faster, and more may wait. If this node could read none, the sweep offers new tickets.
    if (taken > 0) await hints.offer(place, hint);
    return undefined;
  }

  /** A task that this node can't read must not use up the ticket of another one. */
  async #claimReadable(text: string, by: Claimant): Promise<Claim | typeof UNREADABLE | undefined> {
    try {
      return await this.#claim(text, by);
    } catch (error) {
      if (isUnreadable(error)) return UNREADABLE;
      throw error;
    }
  }

  async #claim(text: string, by: Claimant): Promise<Claim | undefined> {
    const { slices, context } = this.store;
    await slices.turn(text.length);
    const task = decodeForHandler(text);
    if (task.state !== 'waiting' || (task.to && !isTarget(task.to, context.node))) return undefined;
    // Claims of two hints of one task, begun in the same ms, have the same token: each could take the other's for its own.
    for (let other = this.#current.get(task.id); other; other = this.#current.get(task.id)) {
      if (await other) return undefined;
    }
    const claiming = this.#write(task, text, by);
    const isGot = claiming.then(Boolean, () => false).finally(() => this.#current.delete(task.id));
    this.#current.set(task.id, isGot);
    return claiming;
  }

  /** The text may have changed since the hint, and the task may wait as before. */
  #write(hinted: Task, hint: string, by: Claimant): Promise<Claim | undefined> {
    const made: Claim[] = [];
    let [task, text] = [hinted, hint];
    const rule = async (found: string | undefined, isUncertain: boolean): Promise<TextStep<Claim | undefined>> => {
      if (found === undefined) return { result: undefined };
      if (found !== text) {
        const own = isUncertain ? claimIn(found, made) : undefined;
        if (own || !leadsTo(text, found)) return { result: own };
        [task, text] = [decodeForHandler(found), found];
      }
      const claimed = claim(task, by, await this.store.stamp());
      const next = new Claim(claimed, encodeTask(claimed));
      made.push(next);
      return { write: next.text, done: () => next };
    };
    return this.store.texts.change(task.id, rule, { known: { text }, patience: by.lease / 2 });
  }
}

/** A claim whose answer was lost may have been applied, and changed since: another task waits for its end, say. */
function claimIn(text: string, made: readonly Claim[]): Claim | undefined {
  const found = decodeTask(text);
  const own = made.find((each) => each.covers(found));
  own?.follow(found, text);
  return own;
}
