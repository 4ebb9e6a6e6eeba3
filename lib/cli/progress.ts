import type { Streams } from './output.js';

/** A carriage return, and what erases the line up to its end. */
const ANEW = '\r\u001B[K';

/**
 * How far a long command has come, on standard error: one line that is written anew on a terminal, else a line each
 * time when it was asked for. It tells numbers only: no secret and no operator's text.
 */
export class Progress {
  #isShown = false;

  constructor(
    private readonly streams: Streams,
    private readonly isWanted: boolean,
  ) {}

  tell(text: string): void {
    if (this.streams.isErrTerminal) {
      this.streams.err(`${ANEW}${text}`);
      this.#isShown = true;
    } else if (this.isWanted) {
      this.streams.err(`${text}\n`);
    }
  }

  /** Before anything else is written, and at the end. */
  clear(): void {
    if (this.#isShown) this.streams.err(ANEW);
    this.#isShown = false;
  }
}
