import type { JobRuns, RunEntry } from 'nestjs-gatekeeper';
import { NOW, MINUTE, NUMBERS, aNode, aState, aRun, aPast, aRunningJob, warnings } from './warned.js';

describe('a job that failed', () => {
  const DAY = 24 * 60 * MINUTE;
  const failed = (at: number, changes: Partial<RunEntry> = {}) =>
    aRun(at, { outcome: 'failed', message: 'disk full', ...changes });
  const sentences = (failures: RunEntry[], state = aState()) =>
    warnings(state, [aNode()], [aRun(NOW - 1000)], { past: [aPast(NOW - 1000, { failures })] });

  it('stays in view for a day, also if it ran well since', () => {
    expect(sentences([failed(NOW - 9 * 60 * MINUTE)])).toEqual([
      {
        code: 'run-failed',
        sentence: 'Jobs.work failed once in the last day, last 2026-01-10 03:00:00 UTC on app1: disk full',
      },
    ]);
    expect(sentences([failed(NOW - DAY - 11)])).toEqual([]);
  });

  it('is counted, and shows the last error', () => {
    const crash = failed(NOW - MINUTE, { outcome: 'crashed', message: undefined });
    expect(sentences([crash, failed(NOW - 2 * MINUTE), failed(NOW - 2 * DAY)])[0]!.sentence).toMatch(
      /^Jobs.work failed 2 times .*: its node crashed$/,
    );
    const lost = failed(NOW - MINUTE, { outcome: 'lost', message: undefined });
    const many = Array.from({ length: 10 }, () => lost);
    expect(sentences(many)[0]!.sentence).toMatch(/failed at least 10 times .*: it lost its permit$/);
    const cut = { ...lost, loss: { at: NOW, reason: 'max-run-time' as const }, message: 'This operation was aborted' };
    expect(sentences([cut])[0]!.sentence).toMatch(
      /: it lost its permit, because the run took longer than its maxRunTime \(This operation was aborted\)$/,
    );
    const long = sentences([failed(NOW - 1000, { message: 'x'.repeat(500) })])[0]!.sentence;
    expect(long).toMatch(/: x{200}…$/);
    const lines = sentences([failed(NOW - 1000, { message: 'no lock\r\n  held by: app2\n' })])[0]!.sentence;
    expect(lines).toMatch(/: no lock held by: app2$/);
  });

  it('is also reported while it is paused', () => {
    const pause = { by: 'ann', at: 1, groupPattern: 'production' };
    expect(sentences([failed(NOW - MINUTE)], aState({ pause })).map(({ code }) => code)).toEqual(['run-failed']);
  });
});

describe('a run that goes on', () => {
  const cards = [{ job: 'Jobs.work', semaphore: 'job' }];
  const goingOn = (took: number, week: Partial<JobRuns['week']>, nodes = [aNode({ jobs: cards })]) =>
    warnings(aState(), nodes, [aRun(NOW - 60 * MINUTE)], {
      past: [aPast(NOW - 60 * MINUTE, { week: { ...NUMBERS, ...week } })],
      running: [aRunningJob(NOW - took)],
    });

  it('is reported when it is due again', () => {
    expect(goingOn(MINUTE + 1, {}, [aNode()])).toEqual([
      {
        code: 'run-overdue',
        sentence:
          'a run of Jobs.work goes on for 1 min (started 2026-01-10 11:58:59 UTC, on app1): ' +
          'longer than the 1 min until it is due again',
      },
    ]);
    expect(goingOn(MINUTE, {}, [aNode()])).toEqual([]);
  });

  it('is reported at once when it has lost its permit, and no longer excuses a missed run', () => {
    const loss = { at: NOW - 3 * MINUTE, reason: 'max-run-time' as const };
    const running = [{ ...aRunningJob(NOW - 4 * MINUTE), loss }];
    expect(warnings(aState(), [aNode()], [], { running })).toEqual([
      {
        code: 'not-run',
        sentence: expect.stringMatching(/^Jobs.work was due 3 times .* it ran last 2026-01-10 11:56/),
      },
      {
        code: 'run-overdue',
        sentence:
          'a run of Jobs.work goes on for 4 min (started 2026-01-10 11:56:00 UTC, on app1), and has had no permit since ' +
          '2026-01-10 11:57:00 UTC, because the run took longer than its maxRunTime: it does not react to its signal',
      },
    ]);
  });

  it('is reported when it takes three times as long as 95 % of the runs did', () => {
    const usual = { ok: 20, p95: 40_000 };
    expect(goingOn(120_001, usual)[0]!.sentence).toMatch(
      /goes on for 2 min .* longer than 3 times the 40 s in which 95 % of its runs ended$/,
    );
    expect(goingOn(120_000, usual)).toEqual([]);
    expect(goingOn(120_001, { ...usual, ok: 19 })).toEqual([]);
    expect(goingOn(59_000, { ok: 500, p95: 10 })).toEqual([]);
  });
});
