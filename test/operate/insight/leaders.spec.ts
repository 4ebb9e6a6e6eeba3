import type { HistoryEntry } from 'nestjs-gatekeeper';
import type { MemberState } from '../../../lib/core/members/index.js';
import type { AuditEntry } from '../../../lib/core/context/answers.js';
import { type SemaphoreRecord, createRecord, parseDefinition } from '../../../lib/core/decision/index.js';
import { scopeCandidates, scopeOverview } from '../../../lib/operate/insight/leaders.js';
import { termsOf } from '../../../lib/operate/insight/terms.js';

const NOW = 1_700_000_000_000;
const NAME = 'leader:reports';
const definition = parseDefinition({ name: NAME, duration: '10s', groupPattern: 'eu' }, 500);
const EMPTY = createRecord(definition, NOW, 'first');
const pausedRecord: SemaphoreRecord = {
  ...EMPTY,
  definition: { ...definition, groupPattern: '[^\\s\\S]' },
  pause: { by: 'ann', at: NOW, groupPattern: 'eu' },
};

const node = (acquirer: string, group = 'eu') => ({ group, acquirer, instance: `id of ${acquirer}` });
const member = (acquirer: string, more: Partial<MemberState> = {}): MemberState => ({
  ...node(acquirer),
  id: `id of ${acquirer}`,
  host: acquirer,
  metadata: {},
  startedAt: NOW,
  state: 'living',
  expiresAt: NOW + 5000,
  scopes: ['reports'],
  ...more,
});
const MEMBERS = [
  member('a'),
  member('b'),
  member('d', { scopes: ['other'] }),
  member('e', { state: 'lapsed' }),
  member('c', { group: 'us' }),
];
const permitOf = (acquirer: string, expiresAt = NOW + 8000) => ({
  ...node(acquirer),
  id: 'permit',
  slot: 0,
  token: 7,
  holder: `id of ${acquirer}`,
  grantedAt: NOW - 60_000,
  expiresAt,
  duration: 10_000,
});
const facts = (now = NOW) => ({ now, clockTolerance: 500, members: MEMBERS });
const overview = (record: SemaphoreRecord, now?: number) => scopeOverview(NAME, record, facts(now));
const reasons = (record: SemaphoreRecord) =>
  scopeCandidates('reports', record, facts()).map(({ acquirer, reason = 'leads' }) => `${acquirer} ${reason}`);

describe('a scope', () => {
  it('has the leader, its term and the number of nodes that could lead', () => {
    const led = { ...EMPTY, permits: [permitOf('a')] };
    expect(overview(led)).toEqual({
      scope: 'reports',
      semaphore: NAME,
      leader: node('a'),
      term: 7,
      since: NOW - 60_000,
      expiresAt: NOW + 8000,
      lease: 10_000,
      candidates: 2,
    });
  });

  it.each([
    ['in peace', { ...EMPTY, permits: [permitOf('a')] }, ['a leads', 'b no-permit', 'd not-started', 'c group']],
    ['without a leader', EMPTY, ['a waiting', 'b waiting', 'd not-started', 'c group']],
    ['in a pause', pausedRecord, ['a paused', 'b paused', 'd not-started', 'c group']],
    ['that is kept for b', kept('b'), ['a other-preferred', 'b waiting', 'd not-started', 'c group']],
    ['that a was asked to leave', kept('a', true), ['a other-preferred', 'b waiting', 'd not-started', 'c group']],
    [
      'whose leader lapsed',
      { ...EMPTY, permits: [permitOf('e')] },
      ['a no-permit', 'b no-permit', 'd not-started', 'e leads', 'c group'],
    ],
  ])('%s has a reason for each node', (_, record, expected) => {
    expect(reasons(record)).toEqual(expected);
  });

  it.each([
    ['the last write', EMPTY, NOW + 15_500, false],
    ['the last write', EMPTY, NOW + 15_501, true],
    ['the end of the last permit', { ...EMPTY, permits: [permitOf('a', NOW + 3000)] }, NOW + 18_501, true],
    ['the end of the last permit', { ...EMPTY, permits: [permitOf('a', NOW + 3000)] }, NOW + 18_500, false],
  ])('has a fault when no node has led since %s for lease, tolerance and 5 s', (_, record, now, isFault) => {
    expect(overview(record, now).fault !== undefined).toBe(isFault);
  });

  it.each([
    ['paused', pausedRecord, 'it is paused by ann'],
    ['off', { ...EMPTY, definition: { ...definition, permits: 0 } }, 'its definition allows no leader'],
    ['removed', withoutDefinition(), 'its definition was removed'],
    [
      'for other nodes',
      { ...EMPTY, definition: { ...definition, groupPattern: 'asia' } },
      'no living node takes part in it',
    ],
    ['free', EMPTY, 'nodes could lead, look at their logs'],
  ])('that is %s and has no leader says so', (_, record, sentence) => {
    const { fault } = overview(record, NOW + 60_000);
    expect(fault).toMatchObject({ code: 'no-leader', since: NOW });
    expect(fault!.sentence).toContain('scope "reports" has had no leader for 1 min');
    expect(fault!.sentence).toContain(sentence);
  });

  it('whose record can not be read shows why', () => {
    expect(scopeOverview(NAME, new Error('broken'), facts())).toMatchObject({ problem: 'broken', candidates: 0 });
  });
});

describe('the terms of a scope', () => {
  const run = (token: number, acquirer: string, more = {}): HistoryEntry => ({
    kind: 'run',
    semaphore: NAME,
    job: 'leadership',
    node: node(acquirer),
    at: token * 1000,
    took: 900,
    outcome: 'ok',
    token,
    slot: 0,
    ...more,
  });
  const present = { leader: node('a'), term: 9, since: 9000 };

  it('are the present one and the past ones, newest first', () => {
    const runs = [run(8, 'b', { ended: 'resigned' }), { ...run(7, 'c'), job: 'Reports.send' }, run(6, 'a')];
    expect(termsOf(present, runs, [])).toEqual([
      { node: node('a'), token: 9, from: 9000 },
      { node: node('b'), token: 8, from: 8000, to: 8900, ended: 'resigned' },
      { node: node('a'), token: 6, from: 6000, to: 6900 },
    ]);
  });

  it('name the operator who ended them', () => {
    const entry = {
      at: 8900,
      semaphore: NAME,
      by: 'ann',
      reason: 'slow',
      node: node('c'),
      permit: { ...permitOf('b'), token: 8 },
    };
    const audit: AuditEntry[] = [
      { ...entry, action: 'step-down' },
      { ...entry, action: 'pause', by: 'ben' },
    ];
    expect(termsOf({}, [run(8, 'b')], audit)).toMatchObject([
      { token: 8, change: { action: 'step-down', by: 'ann', reason: 'slow' } },
    ]);
  });

  it('that were taken for crashed follow the report of their own node', () => {
    const crashed = run(8, 'b', { ended: 'expired', outcome: 'lost' });
    const own = run(8, 'b', { ended: 'stuck' });
    for (const runs of [
      [crashed, own],
      [own, crashed],
    ]) {
      expect(termsOf({}, runs, [])).toMatchObject([{ token: 8, ended: 'stuck' }]);
    }
  });
});

function kept(acquirer: string, isExcluded?: true): SemaphoreRecord {
  const preference = { id: 'x', instance: `id of ${acquirer}`, expiresAt: NOW + 6000, duration: 6000 };
  return { ...EMPTY, preference: isExcluded ? { ...preference, isExcluded } : preference };
}

function withoutDefinition(): SemaphoreRecord {
  const { definition: _, ...record } = EMPTY;
  return record;
}
