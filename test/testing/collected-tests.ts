import type { TestRunner } from '../../lib/testing/contract/index.js';

type Step = () => Promise<void>;
type Failures = Map<string, string>;

/** A runner that only collects tests, so that a test can run a contract and look at its failures. */
export class CollectedTests {
  readonly names: string[] = [];
  readonly #failures: Failures = new Map();
  readonly #steps: Step[] = [];
  #path: string[] = [];

  readonly runner: TestRunner = {
    describe: (name, tests) => this.#group(name, tests),
    it: (name, test) => this.#add([...this.#path, name].join(' › '), test),
    before: (hook) => void this.#steps.push(hook),
    after: (hook) => void this.#afters.unshift(hook),
  };
  #afters: Step[] = [];

  /** Runs all tests, in their order. @returns the message of each failure, by the name of its test */
  async run(): Promise<Failures> {
    try {
      for (const step of this.#steps) await step();
    } finally {
      for (const step of this.#afters) await step();
    }
    return this.#failures;
  }

  #group(name: string, tests: () => void): void {
    this.#path.push(name);
    tests();
    this.#path.pop();
  }

  #add(name: string, test: Step): void {
    this.names.push(name);
    this.#steps.push(() => test().catch((error: Error) => void this.#failures.set(name, error.message)));
  }
}
