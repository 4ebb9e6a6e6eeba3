/** Counts what uses a thing, so that its owner may forget it after the last use. */
export class UseCount {
  #count = 0;

  /** @param onIdle runs each time that the last use ends */
  constructor(private readonly onIdle: () => void) {}

  begin(): void {
    this.#count++;
  }

  end(): void {
    this.#count--;
    if (this.#count === 0) this.onIdle();
  }

  /** Counts as a use until the work ends. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.begin();
    try {
      return await work();
    } finally {
      this.end();
    }
  }
}
