import { execa } from 'execa';
import { describeUnless } from '../../../test/support/unless.js';
import { ROOT } from '../../../test/docs/snippets.js';
import { type Results, bench, lack } from './short-run.js';

/** Locks that need no package beside those of this project. */
const LOCKS = ['ours-redis', 'raw-redis', 'pg-advisory', 'raw-postgres', 'ours-memory'];

describeUnless(lack)('a short run of the comparison', () => {
  let results: Results;

  beforeAll(async () => {
    const short = ['--seconds', '0.2', '--parts', 'speed,cases', '--cases', 'stale,frozen,lost', '--json'];
    const { stdout } = await bench(...short, '--only', LOCKS.join(','));
    results = JSON.parse(stdout) as Results;
  }, 480_000);

  it('measures each lock with 1 and with 64 flows', () => {
    expect(Object.keys(results.speed)).toEqual(expect.arrayContaining(LOCKS));
    for (const figures of Object.values(results.speed)) {
      for (const { rate, p50, p99 } of [figures['1']!, figures['64']!]) {
        expect(rate).toBeGreaterThan(0);
        expect(p99).toBeGreaterThanOrEqual(p50);
      }
    }
    expect(results.missing).toEqual([]);
  });

  it('tries the cases with each lock of several processes', () => {
    expect(Object.keys(results.cases).toSorted()).toEqual(['ours-redis', 'pg-advisory']);
  });

  it('finds that ours keeps the new holder, refuses the stale write, and survives the loss of all data', () => {
    const { stale, frozen, lost } = results.cases['ours-redis']!;
    expect([stale!.holds, frozen!.holds, lost!.holds]).toEqual([true, true, true]);
    expect(frozen!.text).toMatch(/^stale write refused/);
  });

  it('says why a case does not apply', () => {
    const { stale, frozen, lost } = results.cases['pg-advisory']!;
    expect([stale!.holds, frozen!.holds]).toEqual([null, null]);
    expect(stale!.text).toMatch(/^not applicable: the lock has no expiry/);
    expect(lost!.text).toMatch(/the first one's library knew when asked/);
  });
});

describe('wrong arguments of the comparison', () => {
  it.each([
    [['--parts', 'tea'], 'no part is named tea'],
    [['--only', 'ours-redis,etcd'], 'no peer is named etcd'],
    [['--cases', 'rain'], 'no case is named rain'],
    [['--seconds', 'soon'], '--seconds must be a number above 0'],
  ])('%j: the error says what is wrong', async (args, message) => {
    const { stderr, exitCode } = await execa(process.execPath, ['bench/locks/run.mjs', ...args], {
      cwd: ROOT,
      env: { NODE_OPTIONS: '' },
      reject: false,
    });
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(message);
  });
});

describe('a resource that checks tokens', () => {
  const FILE: string = new URL('../../../bench/locks/resource.mjs', import.meta.url).href;

  it('refuses a lower token than it has seen, and can refuse no write without one', async () => {
    const { GuardedResource } = (await import(FILE)) as {
      GuardedResource: new () => { write(token: number | null): boolean };
    };
    const resource = new GuardedResource();
    expect([5, 5, 4, null, 6, 5].map((token) => resource.write(token))).toEqual([true, true, false, true, true, false]);
  });
});

describe('a grant to a second node', () => {
  const FILE: string = new URL('../../../bench/locks/cases.mjs', import.meta.url).href;
  const held = { since: 1000, lease: 3000 };

  it.each([
    ['before the end of the first one', { at: 3999 }, true],
    ['after it, because the machine was slow', { at: 4000 }, false],
    ['that never came', undefined, false],
  ])('%s: counts as a second holder only while the first one surely lasted', async (_, grant, expected) => {
    const { isWithin } = (await import(FILE)) as { isWithin(grant: unknown, first: unknown): boolean };
    expect(isWithin(grant, held)).toBe(expected);
  });
});
