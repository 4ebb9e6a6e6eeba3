import type { Streams } from './output.js';

/** A carriage return, and the escape sequence that erases to the end of the line. */
const ANEW = '\r\u001B[K';

/**
 * Shows the progress of a long command on standard error. On a terminal it rewrites one line. Otherwise it prints a new
 * line each time, if that was requested. It shows only numbers, so no secrets and no foreign text.
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

  /** Erases the line. Call this before any other output, and at the end. */
  clear(): void {
    if (this.#isShown) this.streams.err(ANEW);
    this.#isShown = false;
  }
}
