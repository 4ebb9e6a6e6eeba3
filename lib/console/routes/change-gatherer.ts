/** ms for which changes are collected into one event. */
const GATHERING = 200;

/** Collects the names of changed semaphores. A busy cluster changes records far more often than people can read. */
export class ChangeGatherer {
  readonly #names = new Set<string>();
  #timer?: NodeJS.Timeout;

  constructor(private readonly tell: (names: string[]) => void) {}

  add(name: string): void {
    this.#names.add(name);
    this.#timer ??= setTimeout(() => this.#flush(), GATHERING).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #flush(): void {
    const names = [...this.#names].toSorted();
    this.#names.clear();
    this.#timer = undefined;
    this.tell(names);
  }
}
