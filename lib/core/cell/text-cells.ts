import { Deadline } from '../async/deadline.js';
import { pause } from '../async/pause.js';
import { Slices } from '../async/slices.js';
import type { Context } from '../context/context.js';
import { show } from '../decision/index.js';
import { MOST_KEYS, type Notify, type QueuedHint, StoreUnavailableError } from '../store/index.js';
import type { StoreCollection } from '../store/store.js';
import { FIRST_BATCH, batchAfter } from '../store/text-batches.js';
import { type SentWrite, Call } from './call.js';

/** Outcome of a write by comparison. */
export type Written = { readonly isWritten: true } | { readonly isWritten: false; readonly found: string | undefined };

const WRITTEN: Written = { isWritten: true };

/**
 * The next step with a text: return a result; write another text (undefined: remove it) and then return a result; or look
 * again, after the rule has changed the text by a call of its own.
 */
export type TextStep<T> =
  | { readonly result: T }
  | { readonly write: string | undefined; readonly done: () => T | Promise<T> }
  | { readonly isChanged: true };

/**
 * A rule from the text to the next step. It is asked again if the text has changed in the store.
 *
 * @param isUncertain whether a write of this change may have been applied, and another write replaced it
 */
export type TextPlan<T> = (text: string | undefined, isUncertain: boolean) => TextStep<T> | Promise<TextStep<T>>;

/** Options of one change. */
export interface TextChangeOptions {
  /** The text, if it was read already, or is expected: a wrong one costs a write. Absent: it is read. */
  readonly known?: { readonly text: string | undefined } | undefined;
  /** ms for which a write is sent again while its outcome is unknown. Default: 0, no further try. */
  readonly patience?: number;
}

/** How texts of one collection are written. Texts are undefined where there is none. */
interface Writing {
  /** The nodes that are notified of a write. Only for records. */
  readonly notify?: Notify;
  /** The hint that goes with a write. Only for tasks. */
  readonly hintOf?: (former: string | undefined, next: string | undefined) => QueuedHint | undefined;
  /** Called after each write. @param isSeen whether only a look has shown it: then its hint may be missing */
  readonly written?: (former: string | undefined, next: string | undefined, isSeen: boolean) => void;
}

/** Options of one write. */
interface WriteLimits {
  /** Asked right before each request to write: if true, no more is sent. */
  readonly isLate?: () => boolean;
  /** The caller offers the hint later. */
  readonly withoutHint?: boolean;
}

/** ms before a write that was given up as unknown is tried again. */
const RETRY = 200;

/**
 * Cells of which this node remembers no text between two calls: those of tasks and groups, the cards of the nodes and the
 * past of the jobs. A write by comparison finds out what became of it: it reads the text after a lost answer, and after a
 * `false`, which may be wrong. A text that is found proves its write, because each text has a nonce of its own and so is
 * written only once. Cards have none: an equal text has what was to be written.
 *
 * Each answer waits for its slice of a turn of the event loop: many may come in one turn, and after each of them large texts
 * may be made and read.
 */
export class TextCells {
  readonly #slices: Slices;

  constructor(
    private readonly texts: StoreCollection,
    private readonly context: Pick<Context, 'timers' | 'timing' | 'random'>,
    private readonly writing: Writing = {},
  ) {
    this.#slices = Slices.of(context.timers.clock);
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
      // An empty answer says nothing of the size of the next texts.
      size = Math.min(MOST_KEYS, found.size > 0 ? batchAfter([...found.values()]) : 4 * size);
    }
    return texts;
  }

  /**
   * Writes `next` (undefined: removes the text) if the text under `key` is `former` (undefined: there is none).
   *
   * @throws UnknownOutcomeError if the write may have been applied, or may still be applied
   * @throws StoreUnavailableError if it was surely not applied
   */
  write(key: string, former: string | undefined, next: string | undefined, limits?: WriteLimits): Promise<Written> {
    return this.#write(this.#call(key), key, former, next, limits);
  }

  async #write(
    call: Call,
    key: string,
    former: string | undefined,
    next: string | undefined,
    { isLate = never, withoutHint = false }: WriteLimits = {},
  ): Promise<Written> {
    const hint = withoutHint ? undefined : this.writing.hintOf?.(former, next);
    for (;;) {
      // The pause may have taken the rest of the time.
      if (call.deadline.remaining <= 0) throw call.unanswered();
      if (isLate())
        throw call.refused(new StoreUnavailableError('too late to write: this process stood still for long'));
      const isAnswered = await this.#isWritten(call, key, former, next, hint);
      const found = isAnswered
        ? next
        : // A `false` may be wrong, too. Only this look says whether the write was applied.
          await call.ask(() => this.texts.read(key, call));
      const turn = this.#slices.turn(found?.length);
      if (turn) await turn;
      if (found === next) {
        this.writing.written?.(former, next, !isAnswered && !withoutHint);
        return WRITTEN;
      }
      if (found !== former) {
        call.lost();
        return { isWritten: false, found };
      }
      await call.backOff();
    }
  }

  /**
   * Changes a text by `rule`, which is asked again with what another node wrote meanwhile. That may have replaced a write of
   * this change whose answer was lost, so the rule recognises what it wrote.
   *
   * @throws the errors of {@link write}, for all writes together, and those of `rule`
   */
  async change<T>(key: string, rule: TextPlan<T>, { known, patience = 0 }: TextChangeOptions = {}): Promise<T> {
    const call = this.#call(key);
    for (let text = known ? known.text : await this.read(key); ;) {
      const step = await rule(text, call.isUncertain);
      if ('result' in step) return step.result;
      if ('isChanged' in step) {
        const found = await this.#readAgain(call, key);
        // The rule's own change may be under way still.
        if (found === text) await call.backOff();
        text = found;
        continue;
      }
      const written = await this.#writePatiently(call, key, text, step.write, patience);
      if (written.isWritten) return step.done();
      call.deadline = this.#deadline();
      text = (await call.backOff()) ? await this.#readAgain(call, key) : written.found;
    }
  }

  /** Each write and each look has a time of its own: the rule may have asked the store for much. */
  async #readAgain(call: Call, key: string): Promise<string | undefined> {
    call.deadline = this.#deadline();
    const text = await call.ask(() => this.texts.read(key, call));
    await this.#slices.turn(text?.length);
    return text;
  }

  /** @param patience ms after which no other try begins */
  async #writePatiently(
    call: Call,
    key: string,
    former: string | undefined,
    next: string | undefined,
    patience: number,
  ): Promise<Written> {
    const { clock } = this.context.timers;
    const until = clock.monotonic() + patience;
    for (;;) {
      call.deadline = this.#deadline();
      try {
        return await this.#write(call, key, former, next);
      } catch (error) {
        // If something was sent, the store can't be reached now: it may have been applied, or may still be.
        if (!call.hasSent || clock.monotonic() >= until) throw error;
      }
      await pause(clock, RETRY, { isAwaited: false });
    }
  }

  #call(key: string): Call {
    return new Call(this.#deadline(), this.context.random, () => show(key));
  }

  #deadline(): Deadline {
    return new Deadline(this.context.timers, this.context.timing.callTimeout);
  }

  async #isWritten(
    call: Call,
    key: string,
    former: string | undefined,
    next: string | undefined,
    hint: QueuedHint | undefined,
  ): Promise<boolean> {
    const sent: SentWrite = { isUncertain: false };
    call.sentWrites.push(sent);
    try {
      const { deadline } = call;
      return await this.texts.compareAndSet(key, former, next, { deadline, hint, notify: this.writing.notify });
    } catch (error) {
      call.failed(sent, error);
      return false;
    }
  }
}

const never = () => false;
