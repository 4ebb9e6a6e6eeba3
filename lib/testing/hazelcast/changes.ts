/** Lets callers wait for conditions. Each announced change makes all conditions be checked again. */
export class Changes {
  readonly #waiting = new Set<() => void>();

  announce(): void {
    for (const look of this.#waiting) look();
  }

  /**
   * Resolves as soon as `isTrue` returns true. Rejects with what it throws, or with `tooLate()` after `timeout` ms.
   */
  until(isTrue: () => boolean, timeout: number, tooLate: () => Error): Promise<void> {
    const { promise, resolve, reject } = deferred();
    const timer = setTimeout(() => reject(tooLate()), timeout);
    const look = () => {
      try {
        if (isTrue()) resolve();
      } catch (error) {
        reject(error);
      }
    };
    this.#waiting.add(look);
    look();
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(look);
    });
  }
}

/** Does the same as `Promise.withResolvers`, which Node 20 does not have. */
function deferred() {
  let resolve!: () => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<void>((...handles) => ([resolve, reject] = handles));
  return { promise, resolve, reject };
}
