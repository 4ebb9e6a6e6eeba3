import { promised } from './promised.js';

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
  during<T>(work: () => Promise<T>): Promise<T> {
    this.begin();
    return promised(work).then(this.#ended, this.#failed);
  }

  #ended = <T>(answer: T): T => {
    this.end();
    return answer;
  };

  #failed = (error: unknown): never => {
    this.end();
    throw error;
  };
}
