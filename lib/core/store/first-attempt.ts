import { atMost } from './at-most.js';

/** The first attempt of a client to connect. Calls right after its start wait for the end of the attempt. */
export class FirstAttempt {
  #isOver = false;
  #end!: () => void;
  readonly #ended = new Promise<void>((resolve) => (this.#end = resolve));

  /** Whether the attempt has ended, successful or not. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Notes that the attempt has ended. Idempotent. */
  end(): void {
    this.#isOver = true;
    this.#end();
  }

  /** Waits for the end of the attempt. @param patience longest wait in ms */
  async wait(patience: number): Promise<void> {
    if (!this.#isOver) await atMost(patience, this.#ended);
  }
}
