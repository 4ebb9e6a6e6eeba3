import type { HealthFaultCode, RunEntry, SemaphoreOverview } from 'nestjs-gatekeeper';
import { clusterConditions, healthConditions } from '../../../lib/operate/alerts/conditions.js';

const NOW = Date.UTC(2026, 0, 10, 12);
const MINUTE = 60_000;
const DAY = 86_400_000;
const node = { group: 'default', acquirer: 'app1', instance: '0123456789abcdef' };

function semaphore(changes: Partial<SemaphoreOverview> = {}): SemaphoreOverview {
  return { name: 'export', revision: 1, holders: [], free: 1, isForThisNode: true, jobs: [], warnings: [], ...changes };
}

/** A holder that got its permit some ms ago, with a job that is due each 10 minutes. */
function held(ago: number, duration: number): SemaphoreOverview {
  const permit = { id: 'a', slot: 0, token: 1, holder: 'a', ...node, expiresAt: NOW + 1000, duration };
  const holder = { ...permit, grantedAt: NOW - ago, remaining: 1000, isMine: false };
  const schedule = { kind: 'cron' as const, expression: '*/10 * * * *', interval: 10 * MINUTE };
  return semaphore({ holders: [holder], jobs: [{ job: 'Jobs.export', semaphore: 'export', schedule, nodes: 1 }] });
}

const run = (outcome: RunEntry['outcome']): RunEntry => ({
  kind: 'run',
  semaphore: 'export',
  job: 'Jobs.export',
  node,
  at: NOW - 1000,
  outcome,
});

describe('troubles of the cluster', () => {
  it.each([
    ['not-run', 'run-missed'],
    ['run-overdue', 'run-overdue'],
    ['runs-too-long', 'run-overdue'],
    ['no-node', 'no-node'],
  ] as const)('has a kind for the warning %s', (code, kind) => {
    const [condition] = clusterConditions([semaphore({ warnings: [{ code, sentence: 'look at it' }] })], [], NOW);
    expect(condition).toMatchObject({ kind, semaphore: 'export', since: NOW, sentence: 'export: look at it' });
  });

  it('leaves out warnings about a definition that only its author can mend', () => {
    const warnings = [{ code: 'unusable-pattern' as const, sentence: 'no pattern' }];
    expect(clusterConditions([semaphore({ warnings })], [], NOW)).toEqual([]);
  });

  it('sees a run that goes on for longer than its job has until it is due again', () => {
    expect(clusterConditions([held(11 * MINUTE, MINUTE)], [], NOW)).toMatchObject([
      { kind: 'run-overdue', since: NOW - 11 * MINUTE, sentence: expect.stringContaining('app1 goes on since') },
    ]);
  });

  it.each([
    ['is not due yet', held(9 * MINUTE, MINUTE)],
    ['may be short, with a permit that lasts until it expires', held(11 * MINUTE, 20 * MINUTE)],
    [
      'is one of many short ones, which are written, and refresh one permit',
      { ...held(11 * MINUTE, MINUTE), lastRun: run('ok') },
    ],
    ['has no schedule', { ...held(11 * MINUTE, MINUTE), jobs: [] }],
  ])('sees none in a run that %s', (_what, overview) => {
    expect(clusterConditions([overview], [], NOW)).toEqual([]);
  });

  it('sees runs whose own node can not report them, and no others', () => {
    const outcomes = (['ok', 'failed', 'lost', 'crashed'] as const).map(run);
    const sentences = clusterConditions([], outcomes, NOW).map(({ kind, sentence }) => `${kind}: ${sentence}`);
    expect(sentences).toEqual([
      'run-failed: export: the run of Jobs.export on app1 lost its permit before it ended',
      'run-failed: export: the run of Jobs.export on app1 crashed: its node no longer lives',
    ]);
    const cut = { ...run('lost'), loss: { at: NOW, reason: 'max-run-time' as const } };
    expect(clusterConditions([], [cut], NOW)).toMatchObject([
      { sentence: expect.stringMatching(/before it ended: the run took longer than its maxRunTime$/) },
    ]);
  });

  it.each([
    [8 * DAY - 1, 1],
    [8 * DAY, 0],
  ])('sees a run that crashed %i ms ago, and none after 8 days', (ago, count) => {
    expect(clusterConditions([], [{ ...run('crashed'), at: NOW - ago }], NOW)).toHaveLength(count);
  });

  it('leaves out the term of a leader whose node died: no later run would end the trouble', () => {
    const term = { ...run('lost'), semaphore: 'leader:default', job: 'leadership' };
    const job = { ...run('lost'), job: 'leadership' };
    expect(clusterConditions([], [term, job], NOW)).toMatchObject([{ kind: 'run-failed', semaphore: 'export' }]);
  });
});

describe('troubles in a node’s health', () => {
  const LASTING = { since: NOW - MINUTE, sentence: 'several', stopsGrants: false };
  const kindsOf = (codes: readonly HealthFaultCode[], pendingPeriod = 0) =>
    healthConditions(
      {
        status: 'degraded',
        grants: true,
        now: NOW,
        faults: codes.map((code, index) => ({ code, since: NOW - index, sentence: code, stopsGrants: false })),
      },
      pendingPeriod,
    ).map(({ kind, subject }) => `${kind} ${subject}`.trim());

  it('has one per kind, and one for each other fault', () => {
    expect(kindsOf(['store-silent', 'clock-unread', 'no-leader', 'tasks-failing', 'shards-unread'])).toEqual([
      'store-lost',
      'no-leader',
      'degraded tasks-failing',
      'degraded shards-unread',
    ]);
  });

  it('has one per scope without a leader, and per group with resources without an owner', () => {
    const faults = (['no-leader', 'resources-unowned'] as const).map((code) => ({ code, ...LASTING }));
    const report = { status: 'degraded', grants: true, now: NOW, faults } as const;
    const part = (subject: string, since: number) => ({ subject, since, sentence: `${subject} has none` });
    const parts = {
      'no-leader': [part('eu', NOW - MINUTE), part('us', NOW - MINUTE), part('new', NOW)],
      'resources-unowned': [part('queues', NOW - MINUTE)],
    };
    expect(healthConditions(report, 1000, parts)).toEqual([
      { kind: 'no-leader', ...part('eu', NOW - MINUTE) },
      { kind: 'no-leader', ...part('us', NOW - MINUTE) },
      { kind: 'resources-unowned', ...part('queues', NOW - MINUTE) },
    ]);
  });

  it('leaves out a shutdown, and alerts that do not arrive', () => {
    expect(kindsOf(['closing', 'alerts-undelivered'])).toEqual([]);
  });

  it('waits for the pending period', () => {
    expect(kindsOf(['no-quorum', 'no-leader'], 1)).toEqual(['no-leader']);
  });
});
