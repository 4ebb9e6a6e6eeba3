/**
 * The functions of a test runner that a contract uses: those of `node:test` as they are; of Jest and Vitest, `before` is
 * `beforeAll` and `after` is `afterAll`. A runner with a short limit for hooks needs a longer one: starting a server takes
 * time.
 */
export interface TestRunner {
  /** Groups tests under a name. */
  readonly describe: (name: string, tests: () => void) => unknown;
  /** Declares a test. `timeout` is its limit in ms; `node:test` has none and ignores it. */
  readonly it: (name: string, test: () => Promise<void>, timeout: number) => unknown;
  /** Runs `hook` before the tests of the group. */
  readonly before: (hook: () => Promise<void>) => unknown;
  /** Runs `hook` after the tests of the group. */
  readonly after: (hook: () => Promise<void>) => unknown;
}

/** Limit of one test, in ms, for busy machines. Vitest and Jest would stop a test after 5 s. */
const TEST_LIMIT = 120_000;

/** Declares groups and tests with the functions of a runner, each test with a limit that no store should need. */
export class ContractTests {
  constructor(readonly runner: TestRunner) {}

  readonly describe = (name: string, tests: () => void): void => void this.runner.describe(name, tests);

  readonly it = (name: string, test: () => Promise<void>): void => void this.runner.it(name, test, TEST_LIMIT);

  /**
   * Declares the tests of something that a store may lack. With a lack it prints the reason, and fails if the store does
   * not lack it: an outdated declaration would hide untested code.
   *
   * @param lack why the store lacks it, as its author declared
   * @param isThere looks at the opened store; undefined if a store that need not do something may do it at times
   */
  unlessLacking(
    ability: string,
    lack: string | undefined,
    isThere: (() => boolean) | undefined,
    tests: () => void,
  ): void {
    if (lack === undefined) return tests();
    this.it(`are left out for ${ability}, which the store lacks by declaration: ${lack}`, async () => {
      process.stderr.write(`Not tested: ${ability}. The store lacks it by declaration: ${lack}\n`);
      if (isThere?.()) throw new Error(`The store has ${ability}: remove it from \`lacks\``);
    });
  }
}
