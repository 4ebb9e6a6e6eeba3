import { z } from 'zod';
import type { Context } from '../../core/context/context.js';
import { decodeStored } from '../../core/decision/index.js';
import { UnknownOutcomeError } from '../../core/store/index.js';
import type { TextCells } from '../../core/cell/text-cells.js';
import { finishedAt } from '../rules/task-place.js';

/** Key of the count. Ids of groups have a bracket. */
const KEY = 'retained';
const VERSION = 1;
/** ms between two writes of the count by one node, while tasks end. */
const INTERVAL = 1000;
/** Writes of other nodes that come first before this one waits for its next turn. */
const TRIES = 5;
const DAY = 86_400_000;

const countSchema = z.strictObject({
  v: z.literal(VERSION),
  nonce: z.string().min(1).max(100),
  /** Bytes by the day on which the tasks are removed: days since 1970. */
  days: z.record(z.string().regex(/^\d+$/), z.number()),
});

/** Bytes by day. */
type Days = Map<number, number>;

/**
 * The bytes of all tasks that have ended and are remembered, in one record that all nodes share:
 *
 *     day of removal   20780: 1,204,113   20787: 88,301 (dead letters)
 *
 * Each node adds once a second what its own writes have changed. A crash, or a write of unknown outcome, makes the count a
 * little wrong. That does not last: a day that has passed leaves the count, as its tasks leave the store.
 */
export class RetainedBytes {
  /** Changes of this node that are not in the record yet. */
  #unsaved: Days = new Map();
  #saving: Days = new Map();
  #running?: Promise<void>;
  #cancelTimer?: () => void;
  #isClosed = false;

  constructor(
    /** Bytes that may be retained. */
    readonly limit: number,
    private readonly texts: Pick<TextCells, 'read' | 'write'>,
    private readonly context: Pick<Context, 'nodeClock' | 'random' | 'clusterClock' | 'events'>,
  ) {}

  /** A text of a task was written. */
  readonly note = (former: string | undefined, next: string | undefined): void => {
    const isChanged = [add(this.#unsaved, former, -1), add(this.#unsaved, next, 1)].includes(true);
    if (isChanged) this.#plan();
  };

  /** The bytes now, as far as this node knows. @throws StoreUnavailableError */
  async total(): Promise<number> {
    const text = await this.texts.read(KEY);
    const today = this.#today();
    return [...daysOf(text), ...this.#saving, ...this.#unsaved].reduce(
      (total, [day, bytes]) => (day < today ? total : total + bytes),
      0,
    );
  }

  /** Writes what is left. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    await this.#running;
    if (this.#unsaved.size > 0) await this.#save();
  }

  #plan(): void {
    if (this.#cancelTimer || this.#isClosed) return;
    this.#cancelTimer = this.context.nodeClock.schedule(() => {
      this.#running = this.#save().finally(() => {
        this.#cancelTimer = undefined;
        if (this.#unsaved.size > 0) this.#plan();
      });
    }, INTERVAL);
  }

  /** Never rejects. What was not written stays for the next time. */
  async #save(): Promise<void> {
    this.#saving = this.#unsaved;
    this.#unsaved = new Map();
    try {
      for (let tries = 0; tries < TRIES; tries++) if (await this.#isAdded()) return;
      this.#putBack();
    } catch (error) {
      // It may have been added. A count that is too small does less harm than tasks that leave too early.
      if (!(error instanceof UnknownOutcomeError)) this.#putBack();
      if (!this.#isClosed)
        this.context.events.next({ type: 'problem', action: 'count the bytes of ended tasks', error });
    } finally {
      this.#saving = new Map();
    }
  }

  async #isAdded(): Promise<boolean> {
    const former = await this.texts.read(KEY);
    const today = this.#today();
    const days = daysOf(former);
    addAll(days, this.#saving);
    // A count below zero is wrong, and would hide others.
    const kept = [...days].filter(([day, bytes]) => day >= today && bytes > 0);
    const next = { v: VERSION, nonce: this.context.random.id(), days: Object.fromEntries(kept) };
    const written = await this.texts.write(KEY, former, JSON.stringify(next));
    return written.isWritten;
  }

  #putBack(): void {
    addAll(this.#unsaved, this.#saving);
  }

  #today(): number {
    return Math.floor(this.context.clusterClock.earliest() / DAY);
  }
}

/** @returns whether the text is that of a task that has ended */
function add(days: Days, text: string | undefined, sign: 1 | -1): boolean {
  const at = text === undefined ? undefined : finishedAt(text);
  if (at === undefined) return false;
  addAll(days, [[Math.floor(at / DAY), sign * Buffer.byteLength(text!)]]);
  return true;
}

function addAll(days: Days, changes: Iterable<readonly [number, number]>): void {
  for (const [day, bytes] of changes) days.set(day, (days.get(day) ?? 0) + bytes);
}

/** @throws CorruptRecordError, NewerRecordError */
function daysOf(text: string | undefined): Days {
  if (text === undefined) return new Map();
  const { days } = decodeStored(countSchema, VERSION, 'the count of bytes of ended tasks', text);
  return new Map(Object.entries(days).map(([day, bytes]) => [Number(day), bytes]));
}
