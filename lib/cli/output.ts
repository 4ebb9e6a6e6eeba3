import { safeJson } from '../decision/index.js';
import { plain } from './text/plain.js';

/** Output of the command line: the process's own streams, or replacements in tests. */
export interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** True when standard error is a terminal: progress is then shown on one line that is rewritten. */
  readonly isErrTerminal: boolean;
}

/** Prints for a command. With `--json` standard output holds JSON and nothing else; all else goes to standard error. */
export class Output {
  constructor(
    private readonly streams: Streams,
    private readonly isJson: boolean,
  ) {}

  /** The command's result: as JSON, or as the text made of it. */
  result<T>(value: T, text: (value: T) => string): void {
    this.streams.out(`${this.isJson ? safeJson(value, 2) : text(value)}\n`);
  }

  /** One item of an endless list of results: one line of JSON each. */
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
