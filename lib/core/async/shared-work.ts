/**
 * Work per key that many callers share: while a run for a key goes on, further callers gather, and the next run serves all
 * of them. So a caller is only served by a run that began after its call.
 */
export class SharedWork<Item, Result = void> {
  #pending = 0;
  readonly #running = new Set<string>();
  readonly #waiting = new Map<
    string,
    { readonly items: Item[]; readonly run: Promise<Result>; readonly begin: () => void }
  >();

  constructor(private readonly work: (key: string, items: readonly Item[]) => Promise<Result>) {}

  /** @throws the error of the run that served the call */
  share(key: string, item: Item): Promise<Result> {
    const next = this.#waiting.get(key) ?? this.#plan(key);
    this.#pending++;
    next.items.push(item);
    return next.run;
  }

  /** Number of calls whose run has not ended, for all keys. */
  get pending(): number {
    return this.#pending;
  }

  /** Whether a run for the key goes on. The next call waits for its end. */
  isRunning(key: string): boolean {
    return this.#running.has(key);
  }

  #plan(key: string) {
    let begin!: () => void;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const items: Item[] = [];
    const next = { items, run: begun.then(() => this.#run(key, items)), begin };
    this.#waiting.set(key, next);
    // Callers of the same turn come together.
    if (!this.#running.has(key)) queueMicrotask(() => this.#beginNext(key));
    return next;
  }

  async #run(key: string, items: readonly Item[]): Promise<Result> {
    try {
      return await this.work(key, items);
    } finally {
      this.#pending -= items.length;
      this.#running.delete(key);
      this.#beginNext(key);
    }
  }

  #beginNext(key: string): void {
    const next = this.#waiting.get(key);
    if (!next || this.#running.has(key)) return;
    this.#waiting.delete(key);
    this.#running.add(key);
    next.begin();
  }
}
