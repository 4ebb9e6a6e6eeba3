import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkHistory } from '../../proof/history/check-history.js';
import { report } from './report.js';
import { type Run, addRun, merge, readRuns } from './results.js';
import type { FaultResult } from './run-fault.js';

const result = (fault: string, changes: Partial<FaultResult> = {}): FaultResult => ({
  fault,
  store: 'optimistic',
  seconds: 60,
  injections: 8,
  figures: checkHistory([]).figures,
  takeovers: [],
  leadership: { terms: 1, doubles: 0, takeovers: [] },
  allocation: {
    changes: 24,
    staleWrites: { refused: 0, applied: 0 },
    doubles: 0,
    takeovers: [{ loss: 'kill -9', took: 3100 }],
    convergences: [2500],
  },
  recovery: 0,
  convergence: 10_000,
  violations: [],
  tolerated: 0,
  history: '',
  story: '',
  ...changes,
});

const run = (seed: number, changes: Partial<Run>): Run => ({
  seed,
  began: '2026-01-01T00:00:00.000Z',
  results: [],
  skipped: [],
  failures: [],
  ...changes,
});

describe('results of several runs', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatekeeper-results-'));
    file = join(folder, 'results.json');
  });
  afterEach(() => rm(folder, { recursive: true }));

  const added = async (...runs: Run[]) => {
    for (const each of runs) await addRun(file, each);
    return merge(await readRuns(file));
  };

  it('are one report in the order of the faults, with the last result of each', async () => {
    const first = run(1, { results: [result('split'), result('kill-holder')] });
    const second = run(2, { results: [result('kill-holder', { injections: 9 })], skipped: ['cp split: no'] });
    const { results, seeds, skipped } = await added(first, second);
    expect(results.map(({ fault, injections }) => [fault, injections])).toEqual([
      ['kill-holder', 9],
      ['split', 8],
    ]);
    expect({ seeds, skipped }).toEqual({ seeds: [1, 2], skipped: ['cp split: no'] });
  });

  it('keep that owners never settled', async () => {
    const { allocation } = result('split');
    const never = result('split', { allocation: { ...allocation, convergences: [Infinity] } });
    const { results } = await added(run(1, { results: [never] }), run(2, {}));
    expect(results[0]!.allocation.convergences).toEqual([Infinity]);
  });

  it('keep a failure until its faults have results', async () => {
    const failures = [{ store: 'optimistic' as const, faults: ['split', 'kill-holder'], text: 'no members' }];
    const [failed, half] = [run(1, { failures }), run(2, { results: [result('split')] })];
    expect((await added(failed, half)).failures).toEqual(failures);
    expect((await added(run(3, { results: [result('kill-holder')] }))).failures).toEqual([]);
  });
});

describe('the report', () => {
  const text = (changes: Partial<FaultResult>) => report(merge([run(1, { results: [result('split', changes)] })]));

  it('says for each fault how owners changed, and when they settled', () => {
    const line =
      '| optimistic | split | 1 | 0 | 24 | 0 | 0, 0, 0 | 1, 3100, 3100, 3100 | 1, 2500, 2500, 2500 | 10000 |';
    expect(text({})).toContain(line);
    expect(text({})).toContain('No promise was broken.');
  });

  it('says that a promise was broken if a resource had two owners', () => {
    const { allocation } = result('split');
    const broken = text({ allocation: { ...allocation, doubles: 1 }, violations: ['S1 owner:r07: two held slot 0'] });
    expect(broken).toContain('| optimistic | split | 1 | 0 | 24 | 1 |');
    expect(broken).toContain('- optimistic split: S1 owner:r07: two held slot 0');
    expect(broken).toContain('PROMISES WERE BROKEN.');
  });
});
