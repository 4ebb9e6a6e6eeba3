/**
 * Runs one piece of work after another, first come, first served. In one process all calls for one semaphore, release
 * and keep-alive included, go through one queue: without it a release that races a refresh of the same permit frees it
 * under its user (seen in 1 of 10 simulated runs).
 */
export class SerialQueue {
  #waiting: (() => void)[] = [];
  #isBusy = false;

  /**
   * @param work gives a promise in any case: an error that it threw at once would block the queue
   * @param signal leaves the queue when it aborts before the work began
   * @throws the signal's reason, or whatever the work throws
   */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#isBusy ? this.#turn(signal).then(() => this.#begin(work)) : this.#begin(work);
  }

  #begin<T>(work: () => Promise<T>): Promise<T> {
    this.#isBusy = true;
    const working = work();
    working.then(this.#next, this.#next);
    return working;
  }

  #next = (): void => {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#isBusy = false;
  };

  #turn(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#waiting = this.#waiting.filter((other) => other !== begin);
        reject(signal?.reason);
      };
      const begin = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      this.#waiting.push(begin);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }
}
