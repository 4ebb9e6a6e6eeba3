/** Counts the uses of an object, so that its owner can drop the object after the last use. */
export class UseCount {
  #count = 0;

  /** @param onIdle called each time that the last use ends */
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
