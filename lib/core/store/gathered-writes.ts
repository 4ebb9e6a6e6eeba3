import type { QueuedHint } from './driver.js';

/** A write by comparison, as {@link TextCollection.compareAndSet} describes it. */
export interface TextWrite {
  readonly key: string;
  /** Undefined: there is none. */
  readonly former?: string;
  /** Undefined: the text is removed. */
  readonly next?: string;
  readonly hint?: QueuedHint;
}

/** The hint if its text must be sent beside those of its write; undefined if it is the next text, which is sent anyway. */
export function ownHintOf({ hint, next }: TextWrite): string | undefined {
  return hint?.hint === next ? undefined : hint?.hint;
}

interface Limits {
  /** Calls of the store that are under way at the same time. */
  readonly calls: number;
  /** Writes in one call. */
  readonly writes: number;
  /**
   * Calls over which many writes at once are divided. The server then works on one of them while the node makes, or
   * reads, the next; else each would wait for the other. Default: 1
   */
  readonly parts?: number;
}

/** Writes that a call has in any case before there is another one. */
const FEW = 4;

/** UTF-16 units of the texts in one call, beside those of its last write. Large texts take long by themselves. */
const MOST_UNITS = 100_000;

interface Waiting<Write, Written> {
  readonly write: Write;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: unknown) => void;
}

/** Writes of one call. Each has another key, so none depends on another one. */
class Batch<Write extends TextWrite, Written> {
  readonly waiting: Waiting<Write, Written>[] = [];
  readonly #keys = new Set<string>();
  #units = 0;

  takes({ key }: Write, most: number): boolean {
    return this.waiting.length < most && this.#units < MOST_UNITS && !this.#keys.has(key);
  }

  add(waiting: Waiting<Write, Written>): void {
    const { write } = waiting;
    const { key, former = '', next = '' } = write;
    this.waiting.push(waiting);
    this.#keys.add(key);
    this.#units += former.length + next.length + (ownHintOf(write)?.length ?? 0);
  }
}

/**
 * Sends writes that come at the same time in one call of the store, which answers each by itself. Under load a call costs
 * far more than a write in it. A write that finds no call under way is sent at once. While there is one, those of one turn of
 * the event loop come together, and those that find all calls under way. Writes of one key are sent in their order.
 */
export class GatheredWrites<Write extends TextWrite = TextWrite, Written = boolean> {
  /** Those that are not sent yet, in their order. New writes come to the last one while it takes them. */
  readonly #batches: Batch<Write, Written>[] = [];
  #underWay = 0;
  /** Writes without an answer, now and when the last calls were sent. */
  #open = 0;
  #lately = 0;
  #isPlanned = false;

  /** @param send gives an error for a write that was refused by itself; rejects only if none was written, or with UnknownOutcomeError */
  constructor(
    private readonly send: (writes: readonly Write[]) => Promise<readonly (Written | Error)[]>,
    private readonly limits: Limits,
  ) {}

  /** @throws its own error, or that of the call */
  write(write: Write): Promise<Written> {
    return new Promise((resolve, reject) => {
      this.#open++;
      const waiting = { write, resolve, reject };
      if (this.#underWay === 0 && this.#batches.length === 0) void this.#call([waiting]);
      else this.#gather(waiting);
    });
  }

  #gather(waiting: Waiting<Write, Written>): void {
    let last = this.#batches.at(-1);
    if (!last?.takes(waiting.write, this.#most)) this.#batches.push((last = new Batch()));
    last.add(waiting);
    this.#plan();
  }

  /** Writes of the next call. */
  get #most(): number {
    const { writes, parts = 1 } = this.limits;
    const share = Math.ceil(Math.max(this.#open, this.#lately) / parts);
    return parts === 1 ? writes : Math.min(writes, Math.max(FEW, share));
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      this.#lately = this.#open;
      const room = this.limits.calls - this.#underWay;
      for (const { waiting } of this.#batches.splice(0, room)) void this.#call(waiting);
    });
  }

  async #call(waiting: readonly Waiting<Write, Written>[]): Promise<void> {
    this.#underWay++;
    try {
      const answers = await this.send(waiting.map(({ write }) => write));
      waiting.forEach(({ resolve, reject }, index) => {
        const answer = answers[index]!;
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      });
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    } finally {
      this.#underWay--;
      this.#open -= waiting.length;
      if (this.#batches.length > 0) this.#plan();
    }
  }
}
