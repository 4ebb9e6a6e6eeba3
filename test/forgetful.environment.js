import { AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment } from 'jest-environment-node';

/**
 * Node's environment, after which nothing is left of the async contexts that a file of tests used. Each file has modules
 * of its own, so that each leaves another storage behind, and every promise of all later files in the same worker is
 * handed through all of them: with thirty, one await costs ten times as much.
 */
export default class ForgetfulEnvironment extends TestEnvironment {
  #used = new Set();
  #run = AsyncLocalStorage.prototype.run;

  async setup() {
    await super.setup();
    const [used, run] = [this.#used, this.#run];
    AsyncLocalStorage.prototype.run = function noted(...args) {
      used.add(this);
      return run.apply(this, args);
    };
  }

  async teardown() {
    AsyncLocalStorage.prototype.run = this.#run;
    for (const storage of this.#used) storage.disable();
    await super.teardown();
  }
}
