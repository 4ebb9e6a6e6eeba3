import { refusesSettings } from './failures.js';
import { type OwnPool, openPool } from './pg.js';

/**
 * The pool that this package opens, with the first call. Poolers refuse connections with settings that they do not know.
 * Then another pool without settings takes its place.
 */
export class OwnPools {
  #opened: OwnPool | undefined;

  /**
   * @param config of pg's Pool
   * @param settings settings of the server, for each connection
   */
  constructor(
    private readonly config: object,
    private settings: object,
  ) {}

  /** Runs a call. Repeats it if its connection was refused because of the settings: it sent nothing then. */
  async use<T>(call: (pool: OwnPool) => Promise<T>): Promise<T> {
    const used = this.#pool();
    try {
      return await call(used);
    } catch (error) {
      if (!refusesSettings(error)) throw error;
      if (this.#opened === used) this.#withoutSettings(used);
      return call(this.#pool());
    }
  }

  async close(): Promise<void> {
    await this.#opened?.end();
  }

  #pool(): OwnPool {
    return (this.#opened ??= openPool({ ...this.config, ...this.settings }));
  }

  #withoutSettings(refused: OwnPool): void {
    this.settings = {};
    this.#opened = undefined;
    void refused.end(); // it has no connection
  }
}
