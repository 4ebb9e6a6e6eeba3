import { safeJson } from '../decision/index.js';
import { plain } from './text/plain.js';

/** Output streams of the command line: those of the process, or replacements in tests. */
export interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether standard error is a terminal. Then progress is one line that is rewritten. */
  readonly isErrTerminal: boolean;
}

/**
 * Prints the output of a command. With `--json` standard output gets only JSON; all other text goes to standard error.
 */
export class Output {
  constructor(
    private readonly streams: Streams,
    private readonly isJson: boolean,
  ) {}

  /** Prints the command's result as text, or with `--json` as JSON. */
  result<T>(value: T, text: (value: T) => string): void {
    this.streams.out(`${this.isJson ? safeJson(value, 2) : text(value)}\n`);
  }

  /** Prints one item of an endless list; with `--json` as one line. */
  item<T>(value: T, text: (value: T) => string): void {
    this.streams.out(`${this.isJson ? safeJson(value) : text(value)}\n`);
  }

  /** Prints JSON, also without `--json`. */
  json(value: unknown): void {
    this.streams.out(`${safeJson(value, 2)}\n`);
  }

  /** Prints a remark for the user to standard error. */
  note(sentence: string): void {
    this.streams.err(`${plain(sentence)}\n`);
  }
}
