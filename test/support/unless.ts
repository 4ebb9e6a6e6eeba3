/* oxlint-disable jest/no-disabled-tests, jest/valid-title, jest/valid-describe-callback -- the one place that skips */

type Describe = ((name: string, tests: () => void) => void) & Pick<typeof describe, 'each'>;
type It = (name: string, test: () => Promise<void>, timeout?: number) => void;

/** With CI=true nothing is skipped: coverage must not get lost unnoticed. */
const isStrict = process.env['CI'] === 'true';

/** The closing lines of the run count skipped tests by this mark. */
const marked = (name: string, lack: string) => `${name} [skipped: ${lack}]`;

const refuse = (lack: string) => () => {
  throw new Error(`${lack}. It is not skipped, because the environment says CI=true`);
};

/**
 * `describe` for tests that need a tool.
 *
 * @param lack in one line: the missing tool and how to get it; undefined: nothing is missing
 */
export function describeUnless(lack: string | undefined): Describe {
  if (lack === undefined) return describe;
  if (isStrict)
    return alwaysDescribing((name) => describe(name, () => it('has the tools that it needs', refuse(lack))));
  return alwaysDescribing((name, tests) => describe.skip(marked(name, lack), tests));
}

/** The same for a single test. */
export function itUnless(lack: string | undefined): It {
  if (lack === undefined) return it;
  return isStrict ? (name) => it(name, refuse(lack)) : (name, test) => it.skip(marked(name, lack), test);
}

/** Where nothing runs a table of tests is one entry. */
function alwaysDescribing(described: (name: string, tests: () => void) => void): Describe {
  const each = () => (name: string, tests: (...row: never[]) => void) => described(name, tests as () => void);
  return Object.assign(described, { each: each as unknown as typeof describe.each });
}
