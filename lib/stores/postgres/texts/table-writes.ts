import { pauseAfter } from '../../../core/async/backoff.js';
import { type Deadline, DeadlinePassed } from '../../../core/async/deadline.js';
import { SerialExecutor } from '../../../core/async/serial-executor.js';
import { GatheredWrites, type TextWrite } from '../../../core/store/gathered-writes.js';
import { StoreUnavailableError } from '../../../core/store/store.errors.js';
import type { Calls } from '../calls.js';
import { RowHeldError } from '../failures.js';
import type { Row } from '../server.js';
import { storedForm } from '../stored-text.js';
import { type WriteForms, hintValuesOf, valuesOf } from './text-statements.js';

/** Of the writes that wait, many go together: they share a statement, and the wait for the disk. */
const TOGETHER = { calls: 2, writes: 32 };
/** Writes that go alone, at the same time. */
const ALONE = { calls: 4, writes: 1 };

/** ms for which a shared statement waits for a row at most: far longer than a commit takes. */
const LONGEST_WAIT = 200;
/** ms for which a statement of one write waits for its row. It comes again, and other writes want its connection. */
const SHORT_WAIT = 10;
const NEXT_LOOK = { first: 20, longest: 100, jitter: 0.5 };
/** Share of a call's time after which a held write is given up, so that the caller gets its certain outcome in time. */
const PATIENCE = 0.9;

/** The statement was given up because a row was held. */
const HELD = Symbol('held');
type Attempted = boolean | typeof HELD;

/** A write, and how far it has come. */
interface WriteInTurn extends TextWrite {
  /** Whether a statement with it is under way, or has ended. */
  isSent: boolean;
  /** Whether its caller knows that it is surely not written: then it is not sent any more. */
  isGivenUp: boolean;
}

/** Writes of one key, one after another. */
interface Line {
  readonly turns: SerialExecutor;
  /** Those that have not ended. */
  writes: number;
  isHeld: boolean;
}

/**
 * Writes of one kind. Those that come together share a statement. A transaction of the application may hold a row, or the
 * key of a new one, until its end. Only the writes of this row may wait for that:
 *
 * - A shared statement waits for a row only for a short time. Then each of its writes goes alone.
 * - A write that goes alone, and finds its row held, comes again and again, and has no connection in between.
 * - Further writes of the same key wait for the first one, and are not sent.
 *
 * A slow server lets writes wait for others. Those that waited for most of a call's time are never sent: their callers try
 * again, and a server that gets the former tries, too, would never catch up.
 */
export class TableWrites {
  readonly #lines = new Map<string, Line>();
  readonly #together: GatheredWrites<WriteInTurn, Attempted>;
  readonly #alone: GatheredWrites<WriteInTurn, Attempted>;
  #forms!: WriteForms;

  constructor(private readonly calls: Calls) {
    const wait = Math.min(LONGEST_WAIT, calls.timeout * (1 - PATIENCE));
    this.#together = new GatheredWrites((writes) => this.#attempt(writes, wait), TOGETHER);
    this.#alone = new GatheredWrites((writes) => this.#attempt(writes, Math.min(SHORT_WAIT, wait)), ALONE);
  }

  /** Sets the statements from now on. Call this before the first write. */
  use(forms: WriteForms): void {
    this.#forms = forms;
  }

  /**
   * @returns whether it was written
   * @throws StoreUnavailableError also if it was not sent in time, UnknownOutcomeError
   */
  write({ key, former, next, hint }: TextWrite): Promise<boolean> {
    const deadline = this.calls.deadline(PATIENCE);
    const line = this.#lineOf(key);
    const write: WriteInTurn = { key, former, next, hint, isSent: false, isGivenUp: false };
    const written = line.turns.run(() => this.#send(write, line, deadline));
    // Without load it is sent at once. Then the limit of its statement is enough.
    return write.isSent ? written : this.#inTime(written, write, deadline);
  }

  /** Waits for a write as long as it is under way, or may still be sent in time. @throws StoreUnavailableError */
  async #inTime<T>(written: Promise<T>, write: WriteInTurn, deadline: Deadline): Promise<T> {
    try {
      return await deadline.race(written);
    } catch (error) {
      if (!(error instanceof DeadlinePassed)) throw error;
      if (write.isSent) return written;
      write.isGivenUp = true;
      throw heldError(write, deadline);
    }
  }

  #lineOf(key: string): Line {
    let line = this.#lines.get(key);
    if (!line) this.#lines.set(key, (line = { turns: new SerialExecutor(), writes: 0, isHeld: false }));
    line.writes++;
    return line;
  }

  async #send(write: WriteInTurn, line: Line, deadline: Deadline): Promise<boolean> {
    try {
      for (let looks = 0; deadline.remaining > 0;) {
        const written = await (line.isHeld
          ? this.#inTime(this.#alone.write(write), write, deadline)
          : this.#together.write(write));
        if (written !== HELD) {
          line.isHeld = false;
          return written;
        }
        if (write.isGivenUp) break;
        if (line.isHeld) await deadline.pause(pauseAfter(looks++, Math.random(), NEXT_LOOK));
        line.isHeld = true;
      }
      throw heldError(write, deadline);
    } finally {
      if (--line.writes === 0) this.#lines.delete(write.key);
    }
  }

  /** Leaves out writes that were given up while they waited. @param wait ms for each row */
  async #attempt(all: readonly WriteInTurn[], wait: number): Promise<Attempted[]> {
    const writes = all.filter(({ isGivenUp }) => !isGivenUp);
    if (writes.length === 0) return all.map(() => HELD);
    for (const write of writes) write.isSent = true;
    try {
      const written = await this.#written(writes, String(Math.ceil(wait)));
      return all.map((write) => (write.isGivenUp ? HELD : written.includes(write)));
    } catch (error) {
      if (!(error instanceof RowHeldError)) throw error;
      for (const write of writes) write.isSent = false;
      return all.map(() => HELD);
    }
  }

  /** @returns those that were written */
  async #written(writes: readonly TextWrite[], wait: string): Promise<readonly TextWrite[]> {
    if (writes.length === 1) return (await this.#runOne(writes[0]!, wait)).length > 0 ? writes : [];
    const keys = new Set((await this.#runMany(writes, wait)).map(({ key }) => key));
    return writes.filter(({ key }) => keys.has(storedForm(key)));
  }

  #runOne(write: TextWrite, wait: string): Promise<Row[]> {
    const { plain, hinted } = this.#forms;
    if (!write.hint) return this.calls.write(plain.one, [...valuesOf(write), wait]);
    return this.calls.write(hinted.one, [...valuesOf(write), wait, ...hintValuesOf(write)]);
  }

  /** In the order of the keys, so that nodes that write the same rows at the same time rarely wait for each other in a ring. */
  #runMany(writes: readonly TextWrite[], wait: string): Promise<Row[]> {
    const hasHints = writes.some(({ hint }) => hint);
    const { many } = hasHints ? this.#forms.hinted : this.#forms.plain;
    const sorted = writes
      .map((write, place) => ({ texts: valuesOf(write), hint: hasHints ? [...hintValuesOf(write), place] : [] }))
      .toSorted(({ texts: [key] }, { texts: [other] }) => (key! < other! ? -1 : 1));
    const texts = listsOf(sorted.map((each) => each.texts));
    return this.calls.write(many, [...texts, wait, ...listsOf(sorted.map(({ hint }) => hint))]);
  }
}

/** A list for each place in the rows. */
function listsOf<Value>(rows: readonly (readonly Value[])[]): (Value | undefined)[][] {
  return rows[0]!.map((_, place) => rows.map((values) => values[place]));
}

function heldError({ key }: TextWrite, { timeout }: Deadline): StoreUnavailableError {
  const what = `The text under ${key} was held by another transaction, or waited for earlier writes, for ${timeout} ms`;
  return new StoreUnavailableError(`${what}: end that transaction, or try again later`);
}
