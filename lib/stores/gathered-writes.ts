/** A write by comparison, as {@link Texts} describes it. */
export interface TextWrite {
  readonly key: string;
  /** Undefined: there is none. */
  readonly former?: string;
  /** Undefined: the text is removed. */
  readonly next?: string;
}

/** True if the text was written, otherwise the text that is there, as far as the store tells it. */
export type TextWritten = true | { readonly found?: string };

interface Limits {
  /** Calls of the store that are under way at the same time. */
  readonly calls: number;
  /** Writes in one call. */
  readonly writes: number;
}

/** UTF-16 units of the texts in one call, beside those of its last write. Large texts take long by themselves. */
const MOST_UNITS = 100_000;

interface Waiting {
  readonly write: TextWrite;
  readonly resolve: (written: TextWritten) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends writes that come at the same time in one call of the store, which answers each by itself. Under load a call costs
 * far more than a write in it. A write alone does not wait: those of one turn of the event loop come together, and those
 * that find all calls under way.
 *
 * The writes of one call have different keys: so none depends on another one of its call.
 */
export class GatheredWrites {
  readonly #waiting: Waiting[] = [];
  #underWay = 0;
  #isPlanned = false;

  /** @param send rejects only if none was written, or with UnknownOutcomeError */
  constructor(
    private readonly send: (writes: readonly TextWrite[]) => Promise<readonly TextWritten[]>,
    private readonly limits: Limits,
  ) {}

  /** @throws the error of the call */
  write(write: TextWrite): Promise<TextWritten> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject });
      this.#plan();
    });
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      while (this.#waiting.length > 0 && this.#underWay < this.limits.calls) void this.#call(this.#taken());
    });
  }

  async #call(taken: readonly Waiting[]): Promise<void> {
    this.#underWay++;
    try {
      const answers = await this.send(taken.map(({ write }) => write));
      for (const [index, { resolve }] of taken.entries()) resolve(answers[index]!);
    } catch (error) {
      for (const { reject } of taken) reject(error);
    } finally {
      this.#underWay--;
      if (this.#waiting.length > 0) this.#plan();
    }
  }

  #taken(): readonly Waiting[] {
    const taken: Waiting[] = [];
    const left: Waiting[] = [];
    const keys = new Set<string>();
    let units = 0;
    for (const each of this.#waiting) {
      const { key, former = '', next = '' } = each.write;
      const isTaken = taken.length < this.limits.writes && units < MOST_UNITS && !keys.has(key);
      keys.add(key);
      if (isTaken) units += former.length + next.length;
      (isTaken ? taken : left).push(each);
    }
    this.#waiting.splice(0, this.#waiting.length, ...left);
    return taken;
  }
}
