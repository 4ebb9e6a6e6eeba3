import { NoQuorumError, StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { FAULT_TITLES } from '../../../lib/operate/insight/fault-titles.js';
import { HEALTH_FAULT_CODES, type HealthFaultCode } from '../../../lib/operate/insight/health-answers.js';
import { type HealthFacts, healthReport } from '../../../lib/operate/insight/health-report.js';
import { stalePart } from '../../../lib/core/context/stale.js';
import type { CallFacts, StorePart } from '../../../lib/core/store/store.js';

const NOW = Date.UTC(2026, 0, 10, 12);
/** The node's monotonic ms at that moment. */
const AT = 500_000;
const SECOND = 1000;

interface Circumstances extends Partial<Omit<HealthFacts, 'calls'>> {
  readonly calls?: Partial<Record<StorePart, CallFacts>>;
}

const ALL_ANSWERED: Partial<Record<StorePart, CallFacts>> = {
  reads: { answeredAt: AT - 500 },
  writes: { answeredAt: AT - 4000 },
  clock: { answeredAt: AT - 3000 },
  records: { answeredAt: AT - 7000 },
};

/** When each part was read last. A node keeps no audit log. */
const READ = { records: AT - 7000, nodes: AT - 2000, runs: AT - 1000 };

function facts({ calls = {}, ...changes }: Circumstances = {}): HealthFacts {
  return {
    monotonic: AT,
    now: NOW,
    patience: 2000,
    isClosing: false,
    store: { connected: true, members: 3, quorum: 2 },
    calls: (part) => ({ ...ALL_ANSWERED, ...calls })[part] ?? {},
    clock: { isFresh: true },
    readAt: READ,
    recovering: [],
    removed: [],
    unfollowed: [],
    archive: [],
    runArchive: [],
    leaderless: [],
    unowned: [],
    failingGroups: [],
    undelivered: [],
    otherApplications: [],
    unreadable: { runs: 0, audit: 0, nodes: 0 },
    known: new Map(),
    ...changes,
  };
}

function failing(error: Error, ago: number, answeredAgo = ago + 1000): CallFacts {
  const times = { since: AT - ago, firstAt: AT - ago + 50, lastAt: AT - 100 };
  return { answeredAt: AT - answeredAgo, failing: { ...times, error, isRepeated: true } };
}

/** A call that failed only once, or with others at the same time. */
function failedOnce(error: Error, ago: number): CallFacts {
  const calls = failing(error, ago);
  return { ...calls, failing: { ...calls.failing!, isRepeated: false } };
}

function failedLongAgo(error: Error): CallFacts {
  const at = AT - 61 * SECOND;
  return { failing: { since: 0, firstAt: 50, lastAt: at, error, isRepeated: true } };
}

const LOST_SENTENCE = "the store can't be reached (the connection was lost): check its servers and the network to them";
const away = new StoreUnavailableError('away');
const refused = new NoQuorumError('1 of at least 2 members are there');
const GONE = { connected: false, members: 0, quorum: 2, problem: 'the connection was lost' };

type Case = readonly [
  what: string,
  given: Circumstances,
  expected: { code: HealthFaultCode; ago: number; stops: boolean; says: string; staleAgo?: number },
];

const CASES: Case[] = [
  [
    'a lost connection, since the first call that failed',
    { store: GONE, calls: { reads: failing(away, 9000), writes: failing(away, 8000) } },
    { code: 'store-unreachable', ago: 9000, stops: true, says: 'the connection was lost', staleAgo: 7000 },
  ],
  [
    'a lost connection that no call has met yet, since a report first told of it',
    { store: GONE, known: new Map([['store-unreachable', AT - 300]]) },
    { code: 'store-unreachable', ago: 300, stops: true, says: "can't be reached", staleAgo: 7000 },
  ],
  [
    'a lost connection, not since one that was over in between',
    { store: GONE, known: new Map([['store-unreachable', AT - 900_000]]) },
    { code: 'store-unreachable', ago: 0, stops: true, says: "can't be reached", staleAgo: 7000 },
  ],
  [
    'too few members, while reads are answered: nothing is stale',
    { store: { connected: true, members: 1, quorum: 2 }, calls: { writes: failing(refused, 6000) } },
    { code: 'no-quorum', ago: 6000, stops: true, says: '1 of at least 2 members' },
  ],
  [
    "members' own refusal of writes",
    { calls: { writes: failing(new NoQuorumError('The members refuse'), 2000) } },
    { code: 'no-quorum', ago: 2000, stops: true, says: 'The members refuse' },
  ],
  [
    "members' own refusal of reads, too",
    { calls: { reads: failing(new NoQuorumError('The members refuse'), 2000) } },
    { code: 'no-quorum', ago: 2000, stops: true, says: 'The members refuse', staleAgo: 7000 },
  ],
  [
    'a frozen store, since the call that waits',
    { calls: { reads: { answeredAt: AT - 9000, waitingSince: AT - 2500 } } },
    { code: 'store-silent', ago: 2500, stops: true, says: 'no answer within 2000 ms', staleAgo: 7000 },
  ],
  [
    'a store that answers with failures',
    { calls: { reads: failing(new StoreUnavailableError('no permission'), 3000) } },
    { code: 'store-failing', ago: 3000, stops: true, says: 'no permission', staleAgo: 7000 },
  ],
  [
    'writes that stay without an answer, while reads are answered: nothing is stale',
    { calls: { writes: failing(new UnknownOutcomeError('sent?'), 2000) } },
    { code: 'store-failing', ago: 2000, stops: true, says: 'sent?' },
  ],
  [
    'writes for tasks that stay without an answer',
    { calls: { tasks: failing(new UnknownOutcomeError('sent?'), 4000) } },
    { code: 'tasks-failing', ago: 4000, stops: false, says: 'sent?' },
  ],
  [
    'clocks that can not be read any more',
    { clock: { isFresh: false }, calls: { clock: failing(new StoreUnavailableError('no generator'), 31_000) } },
    { code: 'clock-unread', ago: 31_000, stops: true, says: 'no generator' },
  ],
  [
    'clocks that hang',
    { clock: { isFresh: false }, calls: { clock: { waitingSince: AT - 40_000 } } },
    { code: 'clock-unread', ago: 40_000, stops: true, says: 'no answer within 2000 ms' },
  ],
  [
    'clocks in doubt, which permits are granted by all the same',
    { clock: { isFresh: true, suspect: 'they are 900 ms apart' }, known: new Map([['clock-suspect', AT - 5000]]) },
    { code: 'clock-suspect', ago: 5000, stops: false, says: 'they are 900 ms apart' },
  ],
  [
    'a list of semaphores that can not be read',
    { calls: { records: failing(away, 4000, 5000) }, readAt: { ...READ, records: AT - 12_000 } },
    { code: 'records-unread', ago: 4000, stops: false, says: 'away', staleAgo: 12_000 },
  ],
  [
    'a list of nodes that can not be read',
    { calls: { nodes: failing(away, 4000) } },
    { code: 'nodes-unread', ago: 4000, stops: false, says: 'the list of nodes' },
  ],
  [
    'a history that is not answered',
    { calls: { runs: { waitingSince: AT - 2000 } } },
    { code: 'runs-unread', ago: 2000, stops: false, says: 'the history of runs' },
  ],
  [
    'an audit log that can not be read',
    { calls: { audit: failing(away, 4000) } },
    { code: 'audit-unread', ago: 4000, stops: false, says: 'the audit log' },
  ],
  [
    'shards that can not be read',
    { shards: { since: AT - 30_000, sentence: 'no root' } },
    { code: 'shards-unread', ago: 30_000, stops: false, says: 'no root' },
  ],
  [
    'records in their grace, while permits are granted',
    { recovering: [{ since: AT - 60_000, sentence: 'the store lost data' }] },
    { code: 'recovering', ago: 60_000, stops: false, says: 'the store lost data' },
  ],
  [
    'semaphores that were removed although the code defines them',
    { removed: [{ since: AT - 60_000, sentence: '"job" was removed' }] },
    { code: 'semaphores-removed', ago: 60_000, stops: false, says: '"job" was removed' },
  ],
  [
    'definitions that do not follow the code',
    { unfollowed: [{ since: AT - 60_000, sentence: 'two versions of "job"' }] },
    { code: 'code-not-followed', ago: 60_000, stops: false, says: 'two versions of "job"' },
  ],
  [
    'tasks that can not be read or written',
    { calls: { tasks: failing(away, 4000) } },
    { code: 'tasks-failing', ago: 4000, stops: false, says: "tasks can't be read or written (away)" },
  ],
  [
    'calls for tasks that are not answered',
    { calls: { tasks: { waitingSince: AT - 2000 } } },
    { code: 'tasks-failing', ago: 2000, stops: false, says: 'no answer within 2000 ms' },
  ],
  [
    'entries that are left out',
    { unreadable: { runs: 3, audit: 0, nodes: 1 } },
    { code: 'entries-unreadable', ago: 0, stops: false, says: '3 of the history, 0 of the audit log, 1 of nodes' },
  ],
  [
    'an archive that fails',
    { archive: [{ since: AT - 20_000, sentence: 'archive (file): save definitions: disk full' }] },
    { code: 'archive-failing', ago: 20_000, stops: false, says: 'disk full' },
  ],
  [
    'an archive of runs that fails',
    { runArchive: [{ since: AT - 20_000, sentence: 'archive of runs (file): append runs: disk full' }] },
    { code: 'run-archive-failing', ago: 20_000, stops: false, says: 'disk full' },
  ],
  [
    'a node that shuts down',
    { isClosing: true },
    { code: 'closing', ago: 0, stops: true, says: 'this node shuts down' },
  ],
];

describe('a report of health', () => {
  it('has nothing to say of a store that answers', () => {
    const healthy = { status: 'healthy', grants: true, now: NOW, faults: [] };
    expect(healthReport(facts())).toEqual(healthy);
    // Calls under way are no sign of anything yet.
    const busy = { reads: { answeredAt: AT - 500, waitingSince: AT - 1900 }, records: { waitingSince: AT - 9000 } };
    expect(healthReport(facts({ calls: busy }))).toEqual(healthy);
  });

  it.each(CASES)('tells %s', (_, given, { code, ago, stops, says, staleAgo }) => {
    const report = healthReport(facts(given));
    const sentence = expect.stringContaining(says);
    expect(report.faults).toEqual([{ code, since: NOW - ago, sentence, stopsGrants: stops }]);
    expect(report).toMatchObject({ grants: !stops, status: stops ? 'down' : 'degraded' });
    expect(stalePart(report, 'records')?.since).toBe(staleAgo === undefined ? undefined : NOW - staleAgo);
  });

  it('blames the store alone for all that fails with it, and lists what stops grants first', () => {
    const report = healthReport(
      facts({
        store: GONE,
        clock: { isFresh: false, suspect: 'no member told its time for 30 s' },
        calls: { reads: failing(away, 9000), clock: failing(away, 9000), nodes: failing(away, 9000) },
        archive: [{ since: AT - 20_000, sentence: 'disk full' }],
      }),
    );
    expect(report.faults.map(({ code }) => code)).toEqual(['store-unreachable', 'archive-failing']);
  });

  it.each([
    ['one lost answer of a write, however old', { writes: failedOnce(new UnknownOutcomeError('sent?'), 9000) }],
    ['lost answers of writes in a moment', { writes: failing(new UnknownOutcomeError('sent?'), 1900) }],
    ['one lost answer of a call for tasks', { tasks: failedOnce(new UnknownOutcomeError('sent?'), 9000) }],
    ['a list that failed long ago', { audit: failedLongAgo(away) }],
    ['a refused write of long ago', { writes: failedLongAgo(refused) }],
    ['lost answers of writes of long ago', { writes: failedLongAgo(new UnknownOutcomeError('sent?')) }],
  ])('makes nothing of %s', (_, calls) => {
    expect(healthReport(facts({ calls })).status).toBe('healthy');
  });

  it('knows no age of what was never read', () => {
    const { stale } = healthReport(facts({ store: GONE, readAt: {} }));
    expect(stale).toEqual(['records', 'nodes', 'runs', 'audit'].map((part) => ({ part, sentence: LOST_SENTENCE })));
  });

  it('says of each part how old it is while the store is lost, with its sentence', () => {
    expect(healthReport(facts({ store: GONE })).stale).toEqual([
      { part: 'records', since: NOW - 7000, sentence: LOST_SENTENCE },
      { part: 'nodes', since: NOW - 2000, sentence: LOST_SENTENCE },
      { part: 'runs', since: NOW - 1000, sentence: LOST_SENTENCE },
      { part: 'audit', sentence: LOST_SENTENCE },
    ]);
  });

  it.each([
    ['records', NOW - 7000],
    ['nodes', NOW - 2000],
    ['runs', NOW - 1000],
    ['audit', undefined],
  ] as const)('of a part that alone can not be read, %s, a fault and an entry say the same', (part, since) => {
    const { stale, faults } = healthReport(facts({ calls: { [part]: failing(away, 4000) } }));
    const { sentence } = faults[0]!;
    expect(faults).toEqual([{ code: `${part}-unread`, since: NOW - 4000, sentence, stopsGrants: false }]);
    expect(stale).toEqual([{ part, ...(since !== undefined && { since }), sentence }]);
  });

  it.each([
    ['a store that answers', {}],
    ['a store that refuses only writes', { calls: { writes: failing(refused, 6000) } }],
    ['calls for tasks', { calls: { tasks: failing(away, 4000) } }],
    ['shards that can not be read', { shards: { since: AT - 30_000, sentence: 'no root' } }],
  ])('takes no part for old because of %s', (_, given) => {
    expect(healthReport(facts(given))).not.toHaveProperty('stale');
  });
});

describe('the titles of faults', () => {
  it('are there for each code, and fit one line of a phone', () => {
    expect(Object.keys(FAULT_TITLES).toSorted()).toEqual(HEALTH_FAULT_CODES.toSorted());
    expect(Object.values(FAULT_TITLES).filter((title) => title.length > 32)).toEqual([]);
  });
});
