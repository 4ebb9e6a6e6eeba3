/**
 * An AbortController whose signal is made when it is first asked for. Most short work never asks for it, and a signal with
 * an error as its reason takes 8 µs.
 */
export class LazyAbort {
  #controller?: AbortController;
  #reason?: Error | (() => Error);

  get isAborted(): boolean {
    return this.#reason !== undefined;
  }

  /** The error with which it was aborted; always the same one. */
  get reason(): Error | undefined {
    if (typeof this.#reason === 'function') this.#reason = this.#reason();
    return this.#reason;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.isAborted) this.#controller.abort(this.reason);
    return this.#controller.signal;
  }

  /** The first reason counts. @param reason an error, or a function that makes it when it is asked for */
  abort(reason: Error | (() => Error)): void {
    this.#reason ??= reason;
    this.#controller?.abort(this.reason);
  }

  /** @throws the reason */
  throwIfAborted(): void {
    if (this.isAborted) throw this.reason!;
  }
}
