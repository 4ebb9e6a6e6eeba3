import type { Timers } from '../core/async/timers.js';
import { pause } from '../core/async/pause.js';
import { Deadline } from '../core/async/deadline.js';
import { Slices } from '../core/async/slices.js';
import { MOST_KEYS, StoreUnavailableError, UnknownOutcomeError, unclear, writeError } from '../core/store/index.js';
import type { StoreTexts } from '../core/store/store.js';
import { afterWrite } from '../core/store/after-write.js';
import { FIRST_BATCH, batchAfter } from './batches.js';

/** Outcome of a write by comparison. */
export type Written =
  | { readonly isWritten: true }
  | {
      readonly isWritten: false;
      readonly found: string | undefined;
      /** The write may have been applied, and another write replaced it. Look for its nonce in the text found. */
      readonly isUncertain: boolean;
    };

const WRITTEN: Written = { isWritten: true };

/** ms before a write whose outcome is unknown is looked for. Doubles with each try. */
const FIRST_PAUSE = 5;
/** ms before a write that was given up as unknown is tried again. */
const RETRY = 200;

/**
 * Writes by comparison that find out what became of them: if an answer is lost, or a `false` may be wrong, the text is
 * read. That is safe because each text has a nonce of its own, and so never comes back.
 *
 * Each answer waits for its slice of a turn of the event loop: many may come in one turn, and after each of them large texts
 * may be made and read.
 */
export class ConditionalTexts {
  readonly #slices: Slices;

  constructor(
    private readonly texts: StoreTexts,
    private readonly timers: Timers,
    private readonly callTimeout: number,
    private readonly onWritten: (former: string | undefined, next: string | undefined) => void = () => undefined,
  ) {
    this.#slices = Slices.of(timers.clock);
  }

  /** @throws StoreUnavailableError */
  async read(key: string): Promise<string | undefined> {
    const text = await this.texts.read(key);
    const turn = this.#slices.turn(text?.length);
    if (turn) await turn;
    return text;
  }

  /** Reads any number of texts, in batches. @throws StoreUnavailableError */
  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    const texts = new Map<string, string>();
    for (let begin = 0, size = FIRST_BATCH; begin < keys.length;) {
      const some = keys.slice(begin, begin + size);
      const found = await this.texts.readMany(some);
      await this.#slices.turn();
      for (const [key, text] of found) texts.set(key, text);
      begin += size;
      size = Math.min(MOST_KEYS, batchAfter([...found.values()]));
    }
    return texts;
  }

  /**
   * Writes `next` (undefined: removes the text) if the text under `key` is `former` (undefined: there is none).
   *
   * @param isLate asked right before each request to write: if true, no more is sent
   * @throws UnknownOutcomeError if the write may have been applied, or may still be applied
   * @throws StoreUnavailableError if it was surely not applied
   */
  async write(
    key: string,
    former: string | undefined,
    next: string | undefined,
    isLate: () => boolean = never,
  ): Promise<Written> {
    const deadline = new Deadline(this.timers, this.callTimeout);
    let unknown: UnknownOutcomeError | undefined;
    for (let delay = FIRST_PAUSE; ; delay *= 2) {
      try {
        const found = await this.#attempt([key, former, next], deadline, { isLook: unknown !== undefined, isLate });
        const turn = this.#slices.turn((found === true ? next : found.text)?.length);
        if (turn) await turn;
        if (found === true) {
          this.onWritten(former, next);
          return WRITTEN;
        }
        if (found.text !== former) return { isWritten: false, found: found.text, isUncertain: unknown !== undefined };
      } catch (error) {
        unknown = unknownAfter(error, unknown);
      }
      await deadline.pause(delay);
      if (deadline.remaining <= 0) throw unknown ?? unclear(this.callTimeout);
    }
  }

  /**
   * The same, and tries again while the outcome is unknown.
   *
   * @param patience ms after which no other try begins
   * @throws as {@link write}, of all tries together
   */
  async writePatiently(key: string, former: string, next: string, patience: number): Promise<Written> {
    const { clock } = this.timers;
    const until = clock.monotonic() + patience;
    for (let unknown: UnknownOutcomeError | undefined; ; await pause(clock, RETRY, { isAwaited: false })) {
      try {
        return await this.write(key, former, next);
      } catch (error) {
        unknown = unknownAfter(error, unknown);
        if (clock.monotonic() >= until) throw unknown;
      }
    }
  }

  /** @returns true if the text is now `next`, otherwise what is there */
  async #attempt(
    [key, former, next]: readonly [string, string | undefined, string | undefined],
    deadline: Deadline,
    { isLook, isLate }: { readonly isLook: boolean; readonly isLate: () => boolean },
  ): Promise<true | { readonly text: string | undefined }> {
    if (isLook) {
      const text = await this.texts.read(key, { deadline });
      if (text === next) return true;
      if (text !== former) return { text };
    }
    if (isLate()) throw new StoreUnavailableError('too late to write: this process stood still for long');
    if (await this.texts.compareAndSet(key, former, next, { deadline })) return true;
    // The `false` may be wrong. Only this look says whether the write was applied.
    const text = await afterWrite(() => this.texts.read(key, { deadline }));
    return text === next ? true : { text };
  }
}

const never = () => false;

/** @throws `error` if it proves that nothing was written */
function unknownAfter(error: unknown, former: UnknownOutcomeError | undefined): UnknownOutcomeError {
  const failure = writeError(error);
  if (failure instanceof UnknownOutcomeError) return failure;
  // The store can't be reached now. The first write may have been applied, or may still be.
  if (former) return former;
  throw failure;
}
