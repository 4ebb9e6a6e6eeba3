import type { CancelTimer } from '../../core/async/node-clock.js';
import type { Context } from '../../core/context/context.js';
import { pause } from '../../core/async/pause.js';
import { FIRST_BATCH, batchAfter } from '../../core/store/text-batches.js';
import type { AddressedTasks } from './addressed-tasks.js';
import type { Hints } from '../records/hints.js';
import { placeOfText } from '../rules/task-place.js';
import { PRIORITIES, type Priority } from '../rules/task.js';
import { readableTask } from '../rules/task.codec.js';

/** A hint, with the priority of its queue. */
export interface Hint {
  readonly priority: Priority;
  readonly text: string;
}

/** The task of a hint, for a report of an error. */
export function nameIn({ text }: Hint): string {
  const task = readableTask(text);
  return task ? `task ${task.id}` : 'a task whose hint can not be read';
}

/** ms of one poll. A poll that ends without a hint is begun again. */
const PATIENCE = 5000;
/** ms before the store is asked again after an error. */
const RETRY = 1000;
/** ms for which a hint that was taken ahead waits for a free worker. Then it goes back: another node may have one. */
const AHEAD = 50;
/** So many looks go by before one begins with the lowest priority, so that no task waits for ever. */
const AGING = 8;

/**
 * The hints of one type for the workers of this node. A busy node takes many at once, highest priority first. An idle one
 * waits at all queues at the same time.
 */
export class HintSource {
  /** Hints that arrived and were not needed yet. */
  readonly #arrived: Hint[] = [];
  readonly #parked = new Map<Priority, Promise<void>>();
  readonly #closing = new AbortController();
  #looks = 0;
  #cancelReturn?: CancelTimer;
  /** Whether addressed tasks were found since the last wait: perhaps while a look was on its way. */
  #hasNews = false;
  /** Whether a worker is free. */
  #isWanted = false;
  /** The look that is under way. */
  #looking: Promise<void> | undefined;
  #wake: () => void = () => undefined;

  constructor(
    private readonly type: string,
    private readonly hints: Hints,
    private readonly context: Context,
    private readonly addressed?: Pick<AddressedTasks, 'take'>,
  ) {}

  /**
   * Takes up to `most` hints; waits until there is at least one. A look takes up to `ahead` more for the next calls, so that
   * short tasks don't cost a look each. The next look begins when half of these are left, so that no call waits for it.
   *
   * @returns none after {@link close} or {@link stopWaiting}
   */
  async take(most: number, ahead = 0): Promise<Hint[]> {
    this.#isWanted = true;
    while (this.#isWanted && !this.#isClosed) {
      if (this.#arrived.length === 0) await (this.#looking ?? this.#look(most + ahead));
      if (this.#isClosed) break;
      if (this.#arrived.length > 0) return this.#isWanted ? this.#taken(most, ahead) : this.#taken(0, 0);
      if (this.#isWanted) await this.#park();
    }
    return [];
  }

  /** Takes up to `most` hints that are there, highest priority first. Never rejects. */
  async takeNow(most: number): Promise<Hint[]> {
    const order = ++this.#looks % AGING === 0 ? PRIORITIES.toReversed() : PRIORITIES;
    const taken: Hint[] = [];
    for (const priority of order) {
      if (taken.length >= most || this.#isClosed) break;
      // Neither kind keeps the other one waiting for ever.
      const isFirst = this.#looks % 2 === 0;
      if (isFirst) taken.push(...this.#addressed(priority, most - taken.length));
      await this.#asked(async () => {
        for (let batch = FIRST_BATCH; taken.length < most;) {
          const wanted = Math.min(batch, most - taken.length);
          const texts = await this.hints.queue(this.type, priority).drain(wanted);
          taken.push(...texts.map((text) => ({ priority, text })));
          if (texts.length < wanted) return;
          batch = batchAfter(texts);
        }
      });
      if (!isFirst) taken.push(...this.#addressed(priority, most - taken.length));
    }
    return taken;
  }

  /** Ends a wait: addressed tasks were found. */
  notify(): void {
    this.#hasNews = true;
    this.#wake();
  }

  /** Ends the wait of {@link take}. */
  stopWaiting(): void {
    this.#isWanted = false;
    this.#wake();
  }

  /** Ends all waits, and offers again the hints that were not used. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake();
    await Promise.all([this.#looking, ...this.#parked.values()]);
    this.#cancelReturn?.();
    await this.#return(0);
  }

  /** Offers a hint again that is not used. It is not read, because a newer node may have written it. Never rejects. */
  async giveBack({ priority, text }: Hint): Promise<void> {
    if (placeOfText(text)?.kind === 'addressed') return; // the next look finds it
    return this.hints.offer({ type: this.type, priority }, text);
  }

  #addressed(priority: Priority, most: number): readonly Hint[] {
    return this.addressed?.take(this.type, priority, most) ?? [];
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #taken(most: number, ahead: number): Hint[] {
    this.#isWanted = false;
    const taken = this.#arrived.splice(0, most);
    void this.#return(ahead);
    this.#returnLater();
    // None is left if the queue was empty at the last look.
    if (this.#arrived.length > 0 && this.#arrived.length < ahead / 2) void (this.#looking ?? this.#look(ahead));
    return taken;
  }

  #returnLater(): void {
    this.#cancelReturn?.();
    if (this.#arrived.length > 0)
      this.#cancelReturn = this.context.nodeClock.schedule(() => void this.#return(0), AHEAD);
  }

  /** All but the first ones go back: another node may have free workers. */
  async #return(kept: number): Promise<void> {
    await Promise.all(this.#arrived.splice(kept).map((hint) => this.giveBack(hint)));
  }

  /** Never rejects. */
  #look(most: number): Promise<void> {
    this.#looking = this.takeNow(most).then((hints) => {
      this.#arrived.push(...hints);
      this.#returnLater();
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Waits until a hint has arrived at any queue. Polls of the other queues stay: to begin them anew takes longer than to wait. */
  async #park(): Promise<void> {
    if (this.#arrived.length > 0 || this.#isClosed) return;
    if (this.#hasNews) return void (this.#hasNews = false);
    const woken = new Promise<void>((wake) => (this.#wake = wake));
    for (const priority of PRIORITIES) {
      if (!this.#parked.has(priority)) this.#parked.set(priority, this.#poll(priority));
    }
    await woken;
  }

  async #poll(priority: Priority): Promise<void> {
    const { signal } = this.#closing;
    await this.#asked(async () => {
      let text: string | undefined;
      do text = await this.hints.queue(this.type, priority).poll(PATIENCE, signal);
      while (text === undefined && this.#isWanted && !this.#isClosed);
      if (text === undefined) return;
      if (this.#isWanted || this.#isClosed) this.#arrived.push({ priority, text });
      else await this.giveBack({ priority, text });
    });
    this.#parked.delete(priority);
    this.#wake();
  }

  async #asked(call: () => Promise<unknown>): Promise<void> {
    const { events, nodeClock, reachability } = this.context;
    try {
      await call();
    } catch (error) {
      if (this.#isClosed) return;
      reachability.lost(error as Error);
      events.next({ type: 'problem', action: 'look for tasks', error });
      await pause(nodeClock, RETRY, { signal: this.#closing.signal, isAwaited: false });
    }
  }
}
