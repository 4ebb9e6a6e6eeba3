import type { NodeInfo, RunEntry, RunningEntry } from 'nestjs-gatekeeper';
import type { SemaphoreState } from '../../../lib/operate/insight/semaphore-answers.js';
import {
  NOW,
  MINUTE,
  EACH_MINUTE,
  DEFINITION,
  minutesAgo,
  aNode,
  aState,
  aRun,
  aPast,
  aRunningJob,
  aHolder,
  warnings,
  codes,
} from './warned.js';

describe('a job that did not run', () => {
  it('is reported after one time', () => {
    expect(warnings(aState(), [aNode()], [aRun(NOW - 2 * MINUTE)])).toEqual([
      {
        code: 'not-run',
        sentence: 'Jobs.work was due 2026-01-10 11:59:00 UTC and did not run: it ran last 2026-01-10 11:58:00 UTC',
      },
    ]);
  });

  it('is reported after several times in a row, with figures', () => {
    const state = aState({ lastGrantAt: NOW - 10 * MINUTE });
    expect(warnings(state, [aNode()], [aRun(NOW - 10 * MINUTE)])).toEqual([
      {
        code: 'not-run',
        sentence: expect.stringMatching(/ 3 times since 2026-01-10 11:57:00 UTC .* 2026-01-10 11:50:00 UTC$/),
      },
    ]);
  });

  describe('for longer than its nodes know its times', () => {
    const job = (expression: string, ...recent: number[]) => ({
      ...EACH_MINUTE,
      schedule: { ...EACH_MINUTE.schedule!, expression, timeZone: 'UTC', recent },
    });
    const eachMinute = job('* * * * *', ...minutesAgo(3, 2, 1));
    const sentences = (...given: Parameters<typeof warnings>) => warnings(...given).map(({ sentence }) => sentence);

    it('is reported since the first of its times after its last run, by its cron expression', () => {
      expect(sentences(aState(), [aNode({ jobs: [eachMinute] })], [aRun(NOW - 10 * MINUTE)])).toEqual([
        'Jobs.work did not run at any of its times since 2026-01-10 11:51:00 UTC: it ran last 2026-01-10 11:50:00 UTC',
      ]);
      const often = job('*/10 * * * * *', NOW - 20_000, NOW - 10_000, NOW);
      expect(sentences(aState(), [aNode({ jobs: [often] })], [aRun(NOW - 3 * MINUTE)])).toEqual([
        'Jobs.work did not run at any of its times since 2026-01-10 11:57:10 UTC: it ran last 2026-01-10 11:57:00 UTC',
      ]);
    });

    it('is counted while all of them are known', () => {
      const [node, run] = [aNode({ jobs: [eachMinute] }), aRun(NOW - 4 * MINUTE)];
      expect(sentences(aState(), [node], [run])).toEqual([
        expect.stringMatching(/^Jobs.work was due 3 times since 2026-01-10 11:57:00 UTC /),
      ]);
    });

    it.each<[string, Partial<NodeInfo>, Partial<SemaphoreState>]>([
      ['when no node lived', { startedAt: NOW - 6 * MINUTE + 1 }, {}],
      ['before the last change', {}, { change: { id: 'x', kind: 'resume', by: 'ann', at: NOW - 6 * MINUTE } }],
    ])('leaves out times %s', (_, node, state) => {
      expect(sentences(aState(state), [aNode({ jobs: [eachMinute], ...node })], [aRun(NOW - 10 * MINUTE)])).toEqual([
        expect.stringContaining('any of its times since 2026-01-10 11:55:00 UTC'),
      ]);
    });

    it('is reported by the clock of the cluster', () => {
      const ahead = aNode({ jobs: [eachMinute], clock: { offset: -MINUTE } });
      expect(sentences(aState(), [ahead], [aRun(NOW - 10 * MINUTE)])).toEqual([
        expect.stringContaining('any of its times since 2026-01-10 11:51:00 UTC'),
      ]);
    });
  });

  it('was due at a whole second, although the clock of its node differs by a millisecond', () => {
    const node = aNode({ clock: { offset: -1 } });
    expect(warnings(aState(), [node], [aRun(NOW - 2 * MINUTE)])[0]!.sentence).toContain('due 2026-01-10 11:59:00 UTC');
  });

  it('is also reported when no run of it is known', () => {
    expect(warnings(aState(), [aNode()])[0]!.sentence).toMatch(/and did not run: no run of it is known$/);
  });

  it.each<[string, Partial<SemaphoreState>, Partial<NodeInfo>, RunEntry[]]>([
    ['while it ran since', {}, {}, [aRun(NOW - MINUTE)]],
    ['while the former run ended after that', {}, {}, [aRun(NOW - 5 * MINUTE, { took: 4 * MINUTE })]],
    ['while it ran on a node whose clock is a little ahead', {}, {}, [aRun(NOW - MINUTE - 900)]],
    [
      'while a permit was granted since, by a node that notes no runs',
      { lastGrantAt: NOW - MINUTE + 1 },
      { history: false },
      [],
    ],
    ['while it is paused', { pause: { by: 'ann', at: 1, groupPattern: 'production' } }, {}, []],
    [
      'while it was paused until a moment ago',
      { change: { id: 'x', kind: 'resume', by: 'ann', at: NOW - MINUTE } },
      {},
      [],
    ],
    ['by a node that has not lived that long', {}, { startedAt: NOW - MINUTE + 1 }, []],
    ['by a node that may not run it', {}, { group: 'test' }, []],
    [
      'of what runs on working days, over the weekend',
      {},
      { jobs: [{ ...EACH_MINUTE, schedule: { ...EACH_MINUTE.schedule!, recent: minutesAgo(2) } }] },
      [aRun(NOW - 2 * MINUTE)],
    ],
    [
      'before it had time to become known',
      {},
      { jobs: [{ ...EACH_MINUTE, schedule: { ...EACH_MINUTE.schedule!, recent: [NOW - 14_000] } }] },
      [],
    ],
    [
      'of a timeout',
      {},
      { jobs: [{ ...EACH_MINUTE, schedule: { kind: 'timeout', expression: '1', next: NOW - MINUTE, interval: 1 } }] },
      [],
    ],
    ['without a schedule', {}, { jobs: [{ job: 'Jobs.work', semaphore: 'job' }] }, []],
  ])('is not reported for %s', (_, state, node, runs) => {
    expect(codes(aState(state), [aNode(node)], runs)).not.toContain('not-run');
  });

  it('is reported although its permit is held, because a permit is no run', () => {
    const kept = aHolder({ grantedAt: NOW - 9 * MINUTE, expiresAt: NOW + MINUTE });
    const state = aState({ holders: [kept], free: 0, lastGrantAt: kept.grantedAt });
    expect(codes(state, [aNode()], [aRun(NOW - 5 * MINUTE)])).toEqual(['not-run']);
    expect(codes(state, [aNode()], [aRun(NOW - MINUTE)])).toEqual([]);
    expect(codes(state, [aNode()])).toEqual(['not-run']);
  });

  it('is not reported while a run goes on under its permit', () => {
    const running: RunningEntry = { ...aRunningJob(NOW - 30_000) };
    expect(warnings(aState(), [aNode()], [], { running: [running] })).toEqual([]);
  });

  it('is not reported while a permit is held, if its nodes note no runs', () => {
    const silent = aNode({ history: false });
    const holder = aHolder({ grantedAt: NOW - 9 * MINUTE, expiresAt: NOW + 1 });
    expect(codes(aState({ holders: [holder] }), [silent])).toEqual([]);
    const over = { ...holder, expiresAt: NOW, remaining: 0 };
    expect(codes(aState({ holders: [over] }), [silent])).toEqual(['not-run']);
    const refreshed = { ...over, duration: MINUTE };
    expect(codes(aState({ holders: [refreshed] }), [silent])).toEqual([]);
    // The permit of a dead process says nothing of the job.
    const heard = new Set(['instance']);
    expect(codes(aState({ holders: [holder], free: 0 }), [silent], [], { heard })).toEqual([
      'not-run',
      'holder-silent',
    ]);
  });

  it('names the process that is not heard of and holds the permit', () => {
    const holder = aHolder({ grantedAt: NOW - 9 * MINUTE, expiresAt: NOW + MINUTE });
    const state = aState({ holders: [holder], free: 0 });
    const heard = new Set(['instance']);
    expect(warnings(state, [aNode()], [aRun(NOW - 5 * MINUTE)], { heard })).toEqual([
      { code: 'not-run', sentence: expect.stringMatching(/^Jobs.work was due 3 times .* it ran last /) },
      {
        code: 'holder-silent',
        sentence:
          'app2 is not heard of and holds slot 0 until 2026-01-10 12:01:00 UTC: it crashed, is cut off, or publishes no ' +
          'heartbeat. No other node runs before that time, unless a revoke ends the permit',
      },
    ]);
  });

  it('tells a process that is not heard of from a living one of the same name, as after a reload', () => {
    const holder = aHolder({ grantedAt: NOW - 9 * MINUTE, expiresAt: NOW + MINUTE, acquirer: 'app1' });
    const state = aState({ holders: [holder], free: 0 });
    const heard = new Set(['instance']);
    expect(warnings(state, [aNode({ jobs: [] })], [], { heard })).toEqual([
      {
        code: 'holder-silent',
        sentence: expect.stringMatching(/^a former process of app1 is not heard of and holds /),
      },
    ]);
    const elsewhere = aNode({ jobs: [], group: 'test' });
    const here = aNode({ jobs: [], acquirer: 'app2' });
    expect(warnings(state, [elsewhere, here], [], { heard })).toEqual([
      { code: 'holder-silent', sentence: expect.stringMatching(/^app1 is not heard of and holds /) },
    ]);
  });

  it('is not judged by the last grant, which may have been the one of a run that died', () => {
    const state = aState({ lastGrantAt: NOW - MINUTE });
    expect(codes(state, [aNode()], [aRun(NOW - 10 * MINUTE)])).toEqual(['not-run']);
  });

  it("goes by each node's own clock", () => {
    // Five minutes ahead: what it calls three minutes ago was eight minutes ago by cluster time.
    const ahead = aNode({ clock: { offset: -5 * MINUTE } });
    expect(codes(aState(), [ahead], [aRun(NOW - 6 * MINUTE)])).toEqual([]);
    expect(codes(aState(), [ahead], [aRun(NOW - 9 * MINUTE)])).toEqual(['not-run']);
    expect(codes(aState(), [aNode()], [aRun(NOW - 7 * MINUTE)])).toEqual(['not-run']);
  });

  it('counts an interval from its next time', () => {
    const schedule = { kind: 'interval' as const, expression: '60000', next: NOW + 1, interval: MINUTE };
    const node = aNode({ jobs: [{ ...EACH_MINUTE, schedule }] });
    expect(codes(aState(), [node], [aRun(NOW - 4 * MINUTE)])).toEqual(['not-run']);
    expect(codes(aState(), [node], [aRun(NOW - MINUTE)])).toEqual([]);
  });

  describe('while its nodes restarted', () => {
    const restarted = aNode({ startedAt: NOW - 1000 });

    it('is reported by its stored past', () => {
      const past = [aPast(NOW - 2 * MINUTE)];
      expect(warnings(aState(), [restarted], past[0]!.runs as RunEntry[], { past })).toMatchObject([
        { code: 'not-run', sentence: expect.stringContaining('was due 2026-01-10 11:59:00 UTC') },
      ]);
      const ran = [aPast(NOW - MINUTE)];
      expect(warnings(aState(), [restarted], ran[0]!.runs as RunEntry[], { past: ran })).toEqual([]);
    });

    it('is not reported without a past, or if it had another schedule', () => {
      expect(codes(aState(), [restarted], [aRun(NOW - 10 * MINUTE)])).toEqual([]);
      const past = [aPast(NOW - 10 * MINUTE, { schedule: '0 3 * * *' })];
      expect(warnings(aState(), [restarted], past[0]!.runs as RunEntry[], { past })).toEqual([]);
    });

    it('may run an interval later than planned, if it is an interval', () => {
      const schedule = { kind: 'interval' as const, expression: '60000', next: NOW + 59_000, interval: MINUTE };
      const node = aNode({ startedAt: NOW - 1000, jobs: [{ ...EACH_MINUTE, schedule }] });
      const code = (at: number) => {
        const past = [aPast(at, { schedule: '60000' })];
        return warnings(aState(), [node], past[0]!.runs as RunEntry[], { past }).map((each) => each.code);
      };
      expect(code(NOW - 2 * MINUTE)).toEqual([]);
      expect(code(NOW - 3 * MINUTE)).toEqual(['not-run']);
    });
  });

  it('is not excused by the runs of another job under the same semaphore', () => {
    const node = aNode({ jobs: [EACH_MINUTE, { ...EACH_MINUTE, job: 'Jobs.other' }] });
    const runs = [aRun(NOW - 10 * MINUTE), aRun(NOW - 1000, { job: 'Jobs.other' })];
    const state = aState({ lastGrantAt: NOW - 1000 });
    expect(warnings(state, [node], runs).map(({ sentence }) => sentence)).toEqual([
      expect.stringMatching(/^Jobs.work was due 3 times/),
    ]);
  });
});

describe('a holder that is not heard of', () => {
  const heard = new Set(['instance']);
  const holder = aHolder({ grantedAt: NOW - 9 * MINUTE, expiresAt: NOW + MINUTE });

  it.each<[string, Partial<SemaphoreState>, ReadonlySet<string> | undefined]>([
    ['is heard of', { holders: [{ ...holder, instance: 'instance' }] }, heard],
    ['may be heard of, because the nodes could not be read', { holders: [holder] }, undefined],
    ['has a permit that is over', { holders: [{ ...holder, expiresAt: NOW - 1, remaining: -1 }] }, heard],
    ['is a program', { holders: [{ ...holder, instance: 'http:batch' }] }, heard],
  ])('is not reported if it %s', (_, state, living) => {
    const node = aNode({ jobs: [] });
    expect(codes(aState(state), [node], [], { heard: living })).toEqual([]);
  });

  it('is reported also without a job, and says that other slots are free', () => {
    const state = aState({ holders: [holder], free: 2 });
    expect(warnings(state, [aNode({ jobs: [] })], [], { heard })).toEqual([
      { code: 'holder-silent', sentence: expect.stringMatching(/The 2 free slots can be granted meanwhile$/) },
    ]);
  });
});

describe('a run that took longer than the time until it is due again', () => {
  it('is reported with both', () => {
    expect(warnings(aState(), [aNode()], [aRun(NOW - 2 * MINUTE, { took: 90_000 })])).toEqual([
      {
        code: 'runs-too-long',
        sentence:
          'the last run of Jobs.work took 1 min 30 s (started 2026-01-10 11:58:00 UTC, on app1): ' +
          'longer than the 1 min until it is due again',
      },
    ]);
  });

  it('is also reported while it is paused, but not for a run that was in time', () => {
    const pause = { by: 'ann', at: 1, groupPattern: 'production' };
    expect(codes(aState({ pause }), [aNode()], [aRun(NOW, { took: MINUTE + 1 })])).toEqual(['runs-too-long']);
    expect(codes(aState(), [aNode()], [aRun(NOW, { took: MINUTE })])).toEqual([]);
    expect(codes(aState(), [aNode({ jobs: [] })], [aRun(NOW, { took: 10 * MINUTE })])).toEqual([]);
  });
});

describe('a semaphore that was removed although a living node has a job under it', () => {
  it('is reported, instead of the nodes that may not use it', () => {
    expect(codes(aState({ definition: undefined }), [aNode()])).toEqual(['removed']);
    expect(codes(aState({ definition: undefined }), [aNode({ group: 'test' })])).toEqual(['removed']);
  });
});

describe('a semaphore that no living node may use', () => {
  const elsewhere = (acquirer: string) => aNode({ group: 'test', acquirer });

  it('is reported with its patterns, and without the warning that it did not run', () => {
    expect(warnings(aState(), [elsewhere('app1'), elsewhere('app2')])).toEqual([
      {
        code: 'no-node',
        sentence:
          'none of the 2 living nodes matches groupPattern "production" and acquirerPattern ".*": nothing can run',
      },
    ]);
    expect(warnings(aState(), [elsewhere('app1')])[0]!.sentence).toMatch(/^the only living node does not match/);
  });

  it('is not reported while it is paused, or no node reports that it lives', () => {
    const pause = { by: 'ann', at: 1, groupPattern: 'production' };
    expect(codes(aState({ pause, definition: { ...DEFINITION, groupPattern: 'x' } }), [elsewhere('a')])).toEqual([]);
    expect(codes(aState(), [])).toEqual([]);
  });
});
