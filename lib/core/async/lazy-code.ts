/** Code that is loaded when it is first needed, once for the process: an application that does not need it never does. */
export class LazyCode<T> {
  #loaded: T | undefined;

  /** @param importIt such as `() => import('./engine.js')`, which bundlers see */
  constructor(private readonly importIt: () => Promise<T>) {}

  /** Undefined while it is not loaded. */
  get loaded(): T | undefined {
    return this.#loaded;
  }

  /** Idempotent. @throws the error of the import; then the next call tries again */
  async load(): Promise<T> {
    return (this.#loaded ??= await this.importIt());
  }

  /** For tests: makes this count as loaded, because no import ends while time stands still; or makes nothing count as loaded. */
  set(code: T | undefined): void {
    this.#loaded = code;
  }
}
