import { describe, expect, it } from '@jest/globals';
import type { NodeInfo, RunEntry, SemaphoreDefinition, JobInfo } from 'nestjs-gatekeeper';
import { NodeMatches } from '../../lib/activity/node-matches.js';
import { semaphoreOverview } from '../../lib/insight/overview.js';
import type { SemaphoreFacts } from '../../lib/insight/warnings.js';
import { intendedDefinition } from '../../lib/decision/index.js';
import type { SemaphoreState } from '../../lib/insight/state.js';

const NOW = Date.UTC(2026, 0, 10, 12);
const MINUTE = 60_000;
const DEFINITION: SemaphoreDefinition = {
  name: 'job',
  groupPattern: 'production',
  acquirerPattern: '.*',
  permits: 1,
  duration: 10_000,
};
const EACH_MINUTE: JobInfo = {
  job: 'Jobs.work',
  semaphore: 'job',
  schedule: { kind: 'cron', expression: '* * * * *', next: NOW + 1, interval: MINUTE, recent: minutesAgo(3, 2, 1) },
};

function minutesAgo(...minutes: number[]): number[] {
  return minutes.map((count) => NOW - count * MINUTE);
}

function aNode(changes: Partial<NodeInfo> = {}): NodeInfo {
  const names = { group: 'production', acquirer: 'app1', instance: 'instance', host: 'host', pid: 1 };
  return {
    ...names,
    startedAt: NOW - 60 * MINUTE,
    at: NOW,
    heartbeat: 10_000,
    clock: {},
    jobs: [EACH_MINUTE],
    ...changes,
  };
}

function aState(changes: Partial<SemaphoreState> = {}): SemaphoreState {
  const all = { name: 'job', definition: DEFINITION, revision: 1, isOverridden: false };
  return { ...all, holders: [], free: 1, isForThisNode: true, ...changes };
}

function aRun(at: number, changes: Partial<RunEntry> = {}): RunEntry {
  const node = { group: 'production', acquirer: 'app1', instance: 'instance' };
  return { kind: 'run', semaphore: 'job', job: 'Jobs.work', node, at, took: 10, outcome: 'ok', ...changes };
}

function passingOf(state: SemaphoreState, nodes: NodeInfo[]): ReadonlySet<NodeInfo> {
  if (!state.definition) return new Set();
  const pieces = new NodeMatches(nodes).of(intendedDefinition(state)!);
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return value;
  }
}

function warnings(state: SemaphoreState, nodes: NodeInfo[], runs: RunEntry[] = []) {
  const jobs = nodes.flatMap((node) => node.jobs.map((card) => ({ card, node })));
  const passing = passingOf(state, nodes);
  const facts: SemaphoreFacts = { now: NOW, clockTolerance: 500, nodes, passing, jobs, runs };
  return semaphoreOverview(state, facts).warnings;
}

const codes = (...given: Parameters<typeof warnings>) => warnings(...given).map(({ code }) => code);

describe('a job that did not run', () => {
  const since = NOW - 3 * MINUTE;

  it('is reported after three times in a row, with figures', () => {
    const state = aState({ lastGrantAt: NOW - 10 * MINUTE });
    expect(warnings(state, [aNode()], [aRun(NOW - 10 * MINUTE)])).toEqual([
      {
        code: 'not-run',
        sentence:
          'Jobs.work was due 3 times since 2026-01-10 11:57:00 UTC and did not run: it ran last 2026-01-10 11:50:00 UTC',
      },
    ]);
  });

  it('is also reported when no run of it is known', () => {
    expect(warnings(aState(), [aNode()])[0]!.sentence).toMatch(/and did not run: no run of it is known$/);
  });

  it.each<[string, Partial<SemaphoreState>, Partial<NodeInfo>, RunEntry[]]>([
    ['while it ran since', {}, {}, [aRun(since)]],
    ['while it ran on a node whose clock is a little ahead', {}, {}, [aRun(since - 900)]],
    ['while a permit was granted since, though no run is noted', { lastGrantAt: since + 1 }, {}, []],
    ['while it is paused', { pause: { by: 'ann', at: 1, groupPattern: 'production' } }, {}, []],
    [
      'while it was paused until a moment ago',
      { change: { id: 'x', kind: 'resume', by: 'ann', at: NOW - MINUTE } },
      {},
      [],
    ],
    ['by a node that has not lived that long', {}, { startedAt: since + 1 }, []],
    ['by a node that may not run it', {}, { group: 'test' }, []],
    [
      'of what runs on working days, over the weekend',
      {},
      { jobs: [{ ...EACH_MINUTE, schedule: { ...EACH_MINUTE.schedule!, recent: minutesAgo(2) } }] },
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

  it('is not reported while a permit is held', () => {
    const permit = { id: 'p', slot: 0, token: 1, instance: 'i', holder: 'i', acquirer: 'app2', group: 'production' };
    const times = { grantedAt: NOW - 9 * MINUTE, expiresAt: NOW + 1, duration: 10 * MINUTE };
    const holder = { ...permit, ...times, remaining: 1, isMine: false };
    expect(codes(aState({ holders: [holder] }), [aNode()])).toEqual([]);
    const over = { ...holder, expiresAt: NOW, remaining: 0 };
    expect(codes(aState({ holders: [over] }), [aNode()])).toEqual(['not-run']);
    const refreshed = { ...over, duration: MINUTE };
    expect(codes(aState({ holders: [refreshed] }), [aNode()])).toEqual([]);
  });

  it("goes by each node's own clock", () => {
    // Five minutes ahead: what it calls three minutes ago was eight minutes ago by cluster time.
    const ahead = aNode({ clock: { offset: -5 * MINUTE } });
    expect(codes(aState(), [ahead], [aRun(NOW - 7 * MINUTE)])).toEqual([]);
    expect(codes(aState(), [ahead], [aRun(NOW - 9 * MINUTE)])).toEqual(['not-run']);
    expect(codes(aState(), [aNode()], [aRun(NOW - 7 * MINUTE)])).toEqual(['not-run']);
  });

  it('counts an interval from its next time', () => {
    const schedule = { kind: 'interval' as const, expression: '60000', next: NOW + 1, interval: MINUTE };
    const node = aNode({ jobs: [{ ...EACH_MINUTE, schedule }] });
    expect(codes(aState(), [node], [aRun(NOW - 4 * MINUTE)])).toEqual(['not-run']);
    expect(codes(aState(), [node], [aRun(NOW - 3 * MINUTE)])).toEqual([]);
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

  it('is not reported while it is paused, was removed, or no node reports that it lives', () => {
    const pause = { by: 'ann', at: 1, groupPattern: 'production' };
    expect(codes(aState({ pause, definition: { ...DEFINITION, groupPattern: 'x' } }), [elsewhere('a')])).toEqual([]);
    expect(codes(aState({ definition: undefined }), [elsewhere('a')])).toEqual([]);
    expect(codes(aState(), [])).toEqual([]);
  });
});
