import type { Range } from '../rules/task-place.js';
import type { PacedStore } from '../records/paced-store.js';

/** Behind the texts of all kinds, in their order. */
const END = 'y';

/**
 * Looks at many ranges of texts in their order, mostly without a read: each read brings the first text from there on, of
 * whatever kind, so it also says that all ranges before that text are empty:
 *
 *     ranges   a…  b…  c…  d…          f…          l…  s…  u…
 *     texts    ·····························f(not due)·········w1 w2
 *              └─ first read: none up to here┘└─ second read ──┘
 *
 * It remembers what it has read, so each pass of the sweep makes a new one.
 */
export class RangeScanner {
  #from = END;
  /** The first text from there on; undefined if there is none. */
  #text: string | undefined;

  constructor(private readonly storage: Pick<PacedStore, 'range'>) {}

  /** The first text with `from <= text < to`; undefined if there is none. @throws StoreUnavailableError */
  async first(from: string, to: string): Promise<string | undefined> {
    if (!this.#covers(from)) {
      const [first] = await this.storage.range(from, END, 1);
      this.#from = from;
      this.#text = first?.text;
    }
    return this.#text !== undefined && this.#text < to ? this.#text : undefined;
  }

  /** Whether there are texts with `from <= text < to`; undefined if this is not known without a read. */
  knows({ from, to }: Range): boolean | undefined {
    return this.#covers(from) ? this.#text !== undefined && this.#text < to : undefined;
  }

  #covers(from: string): boolean {
    return this.#from <= from && (this.#text === undefined || from <= this.#text);
  }
}
