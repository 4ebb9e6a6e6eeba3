import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly title: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Two specs, one of which has a source of its own. */
const FILES = {
  'lib/sum.ts': `export const sum = (one: number, other: number): number => one + other;\n`,
  'test/facts.spec.ts': `
    import { sum } from '../lib/sum.js';

    interface Point { x: number }

    const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

    it('passes', () => expect(sum(1, 2)).toBe(3));
    it('has a false assertion', () => {
      const { x }: Point = { x: sum(1, 2) };
      expect(x).toBe(4);
    });
    it('leaves a rejection alone', async () => {
      void Promise.reject(new Error('alone'));
      await pause();
    });
    it('comes after it', pause);
    it('throws in a timer', async () => {
      setTimeout(() => { throw new Error('too late'); }, 1);
      await pause();
    });
    it('comes after the timer', pause);
    it('hangs', () => new Promise(() => undefined), 50);
    it.failing('fails as it is marked', () => expect(1).toBe(2));
    it.failing('passes although it is marked', () => undefined);
    it.skip('is skipped', () => { throw new Error('it ran'); });
    it.each([1, 2])('has a row %i', (row) => expect(row).toBeLessThan(2));

    describe('before each test', () => {
      beforeEach(() => { throw new Error('a broken hook'); });
      it('comes a hook', () => undefined);
    });
    describe('after each test', () => {
      afterEach(async () => { throw new Error('another broken hook'); });
      it('goes a hook', () => undefined);
    });
  `,
  'test/focused.spec.ts': `
    it('is not chosen', () => { throw new Error('it ran'); });
    it.only('is chosen', () => undefined);
    describe.only('a chosen group', () => { it('has this', () => undefined); });
  `,
  'test/left.spec.ts': `
    it('leaves something behind', () => {
      process.env['LEFT_BEHIND'] = 'yes';
      Date.now = () => 7;
      process.on('SIGUSR2', () => undefined);
    });
  `,
  'test/left.after.spec.ts': `it('is another file', () => undefined);`,
  'test/broken.spec.ts': `
    it('is never reached', () => undefined);
    throw new Error('no module');
  `,
} as const;

describe.each([2, 1])('tests of a project, run by %i workers', (workers) => {
  let folder: string;
  let report: Report;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatekeeper-runner-'));
    await cp(join(ROOT, 'tools/test'), join(folder, 'tools/test'), { recursive: true });
    await cp(join(ROOT, 'tools/build/entries.mjs'), join(folder, 'tools/build/entries.mjs'));
    for (const file of ['jest.config.js', 'package.json']) await cp(join(ROOT, file), join(folder, file));
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await mkdir(join(folder, 'examples'));
    for (const [file, text] of Object.entries(FILES)) await put(file, text);
    report = await run();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function put(file: string, text: string): Promise<void> {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }

  async function run(...args: string[]): Promise<Report> {
    const jest = join(ROOT, 'node_modules/jest/bin/jest.js');
    // The sources that a seeded bug replaces are those of this project.
    const options = { cwd: folder, env: { SEEDED_SOURCES: '' }, reject: false, timeout: 120_000 } as const;
    const { stdout } = await execa('node', [jest, '--json', `--maxWorkers=${workers}`, ...args], options);
    return JSON.parse(stdout.slice(stdout.indexOf('{"'), stdout.lastIndexOf('}') + 1)) as Report;
  }

  const fileOf = (name: string) => report.testResults.find((each) => each.name === join(folder, name))!;
  const resultsOf = (name: string) => fileOf(name).assertionResults.map(({ title, status }) => `${title}: ${status}`);
  const messageOf = (title: string) =>
    report.testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .find((each) => each.title === title)!
      .failureMessages.join('\n');

  it('fails the tests that fail, hooks that fail, and no others', () => {
    expect(resultsOf('test/facts.spec.ts')).toEqual([
      'passes: passed',
      'has a false assertion: failed',
      'leaves a rejection alone: failed',
      'comes after it: passed',
      'throws in a timer: failed',
      'comes after the timer: passed',
      'hangs: failed',
      'fails as it is marked: passed',
      'passes although it is marked: failed',
      'is skipped: pending',
      'has a row 1: passed',
      'has a row 2: failed',
      '(beforeEach): failed',
      'comes a hook: passed',
      'goes a hook: passed',
      '(afterEach): failed',
    ]);
  });

  it('say why', () => {
    expect(messageOf('leaves a rejection alone')).toMatch(/No one handled a rejection: Error: alone/);
    expect(messageOf('throws in a timer')).toMatch(/No one caught an error: Error: too late/);
    expect(messageOf('hangs')).toContain('Not settled within 50 ms');
    expect(messageOf('(beforeEach)')).toContain('a broken hook');
  });

  it('name the line of the source', () => {
    const line = FILES['test/facts.spec.ts'].split('\n').findIndex((each) => each.includes('toBe(4)')) + 1;
    expect(messageOf('has a false assertion')).toContain(`${join(folder, 'test/facts.spec.ts')}:${line}:`);
  });

  it('are chosen by only', () => {
    expect(resultsOf('test/focused.spec.ts')).toEqual([
      'is not chosen: pending',
      'is chosen: passed',
      'has this: passed',
    ]);
  });

  it('fail a file that leaves something behind, and none that follows', () => {
    expect(resultsOf('test/left.spec.ts')).toEqual(['leaves something behind: passed', '(afterAll): failed']);
    const left = fileOf('test/left.spec.ts').message;
    for (const what of ['process.env.LEFT_BEHIND', 'Date.now', 'a listener of process for "SIGUSR2"'])
      expect(left).toContain(`Left behind for the files that follow: ${what}`);
    expect(resultsOf('test/left.after.spec.ts')).toEqual(['is another file: passed']);
  });

  it('fail a file that can not be loaded', () => {
    expect(resultsOf('test/broken.spec.ts')).toEqual([]);
    expect(fileOf('test/broken.spec.ts').message).toContain('no module');
  });

  it('see a source as it is now', async () => {
    await put('lib/sum.ts', 'export const sum = (one: number, other: number): number => one + other + 1;\n');
    report = await run('test/facts', '-t', 'a false assertion|^passes$');
    expect(resultsOf('test/facts.spec.ts').filter((each) => !each.endsWith('pending'))).toEqual([
      'passes: failed',
      'has a false assertion: passed',
    ]);
  });
});
