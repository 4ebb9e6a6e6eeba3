import { safeJson } from '../../core/decision/index.js';
import { plain } from '../text/plain.js';
import { yaml } from '../text/yaml.js';

/** Output streams of the command line: those of the process, or replacements in tests. */
export interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether standard error is a terminal. Then progress is one line that is rewritten. */
  readonly isErrTerminal: boolean;
}

/** Forms of the output. `wide` is text with more columns, for commands that have more. */
export const FORMATS = ['text', 'wide', 'json', 'yaml'] as const;
export type Format = (typeof FORMATS)[number];

/** Formats a value as text. */
type Text<T> = (value: T, isWide: boolean) => string;

/**
 * Prints the output of a command. With `-o json` and `-o yaml` standard output gets only that; all other text goes to standard error.
 */
export class Output {
  constructor(
    private readonly streams: Streams,
    private readonly format: Format,
  ) {}

  /** Prints the command's result. */
  result<T>(value: T, text: Text<T>): void {
    this.streams.out(`${this.#formatted(value, text, 2)}\n`);
  }

  /** Prints one item of an endless list: as JSON in one line, as YAML in a document of its own. */
  item<T>(value: T, text: Text<T>): void {
    const begin = this.format === 'yaml' ? '---\n' : '';
    this.streams.out(`${begin}${this.#formatted(value, text)}\n`);
  }

  /** Prints JSON in any format. */
  json(value: unknown): void {
    this.streams.out(`${safeJson(value, 2)}\n`);
  }

  #formatted<T>(value: T, text: Text<T>, indent?: number): string {
    if (this.format === 'json') return safeJson(value, indent);
    return this.format === 'yaml' ? yaml(value) : text(value, this.format === 'wide');
  }

  /** Prints a remark for the user to standard error. */
  note(sentence: string): void {
    this.streams.err(`${plain(sentence)}\n`);
  }
}

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
