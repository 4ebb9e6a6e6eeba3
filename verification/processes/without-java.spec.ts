import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { withoutJava } from '../needs/without-java.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Suites that start members in different ways, and one that needs none. */
const FILES = [
  'servers/contract/hazelcast-cp',
  'servers/contract/hazelcast-quorum',
  'processes/cluster/wall-clock',
  'proof/history/rules',
];

/** The suites on a machine without Java and Maven. */
async function runSuites(variables: NodeJS.ProcessEnv = {}) {
  await using machine = await withoutJava();
  const files = FILES.map((file) => `verification/${file}.spec.ts`);
  const jest = ['node_modules/jest/bin/jest.js', '--roots', 'verification', '--maxWorkers=1', '--', ...files];
  const env = { ...machine.env, ...variables };
  // Not as execaNode: that would put Node's own folder into the PATH, where Java may lie, too.
  const options = { cwd: ROOT, env, extendEnv: false, reject: false, timeout: 150_000 } as const;
  return execa(process.execPath, jest, options);
}

it('a run without Java and Maven skips what needs members: a line for the cause, and a count at the end', async () => {
  const { exitCode, stdout, stderr } = await runSuites();
  expect(stderr).not.toContain('FAIL');
  expect(exitCode).toBe(0);
  expect(stdout.split('\n').slice(-2)).toEqual([
    expect.stringMatching(/^skipped \d+ tests in 3 files: .*\binstall Java\b.*\(.+\)$/),
    expect.stringMatching(/^[1-9]\d* passed, 0 failed, \d+ skipped$/),
  ]);
});

it('a run without Java and Maven fails where the environment says CI=true', async () => {
  const { exitCode, stdout, stderr } = await runSuites({ CI: 'true' });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('install Java');
  expect(stderr).toContain('It is not skipped, because the environment says CI=true');
  expect(stdout).toMatch(/^[1-9]\d* passed, [1-9]\d* failed$/m);
});
