import { spawnSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { pinnedVersion } from '../../../lib/testing/hazelcast/package-files.js';
import type { Results } from './results.js';
import type { FaultResult } from './run-fault.js';
import { distributionByDuration } from './takeovers-after-kill.js';
import { leadersAndOwners } from './leaders-and-owners.js';
import { list, spread, stale, table } from './markdown.js';
import { CLIENTS, CLOCK_TOLERANCE } from './test-bed.js';
import { MEMBERS } from './site.js';
import { MEMBER_STORES, type MemberStoreName, isOnServer } from './stores.js';

/** The results as markdown. */
export function report({ results, seeds, began, skipped, failures }: Results): string {
  return [
    '# Faults on real members and servers',
    '',
    `${began.slice(0, 10)}, ${seeds.length > 1 ? 'seeds' : 'seed'} ${seeds.join(', ')}. ${machine(results)}, ${CLIENTS} client processes.`,
    '',
    ...table(COLUMNS, [...results.map(row), totals(results)]),
    '',
    'Takeover: time from the death or freeze of a holder to the next grant of that semaphore. Recovery: longest time from',
    'the end of a fault until each semaphore was granted again. Stalls: how often a process that was not frozen got no CPU',
    'time for more than 150 ms. Such a process can log the end of a permit only afterwards.',
    '',
    ...takeovers(results),
    ...tolerated(results),
    ...leadersAndOwners(results),
    ...list('Not run on this machine', skipped),
    ...list(
      'Not carried out to the end',
      failures.map(({ store, faults, text: why }) => `${store} ${faults.join(', ')}: ${why}`),
    ),
    ...list(
      'Violations',
      results.flatMap(({ store, fault, violations }) => violations.map((each) => `${store} ${fault}: ${each}`)),
    ),
    conclusion(results, failures.length),
    '',
  ].join('\n');
}

function conclusion(results: readonly FaultResult[], failures: number): string {
  if (results.some(({ violations }) => violations.length > 0)) return 'PROMISES WERE BROKEN.';
  return failures > 0 ? 'NOT ALL COULD BE CARRIED OUT.' : 'No promise was broken.';
}

const COLUMNS = [
  'store',
  'fault',
  's',
  'injections',
  'grants',
  'refreshes',
  'takeovers: n, median, p99, max (ms)',
  'recovery (ms)',
  'calls failed or unanswered',
  'overlaps',
  'stale writes: tried, refused, applied',
  'stalls',
  'violations',
];

function row({ store, fault, seconds, injections, figures, recovery, violations, tolerated }: FaultResult): string[] {
  const { grants, refreshes, takeovers, overlaps, writes, stalls } = figures;
  return [
    store,
    fault,
    seconds.toFixed(0),
    `${injections}`,
    `${grants}`,
    `${refreshes}`,
    spread(takeovers),
    recovery > 0 ? recovery.toFixed(0) : '',
    `${failed(figures)}`,
    tolerated > 0 ? `${overlaps}, tolerated` : `${overlaps}`,
    stale(writes.staleRefused, writes.staleApplied),
    `${stalls}`,
    `${violations.length}`,
  ];
}

function totals(results: readonly FaultResult[]): string[] {
  const total = (of: (result: FaultResult) => number) => results.reduce((so, result) => so + of(result), 0);
  const all = (of: (figures: FaultResult['figures']) => number) => total(({ figures }) => of(figures));
  return [
    'all',
    '',
    total(({ seconds }) => seconds).toFixed(0),
    `${total(({ injections }) => injections)}`,
    `${all(({ grants }) => grants)}`,
    `${all(({ refreshes }) => refreshes)}`,
    `${all(({ takeovers }) => takeovers.count)}`,
    '',
    `${all(failed)}`,
    `${total(({ figures, tolerated }) => (tolerated > 0 ? 0 : figures.overlaps))}`,
    stale(
      all(({ writes }) => writes.staleRefused),
      all(({ writes }) => writes.staleApplied),
    ),
    `${all(({ stalls }) => stalls)}`,
    `${total(({ violations }) => violations.length)}`,
  ];
}

/** Denials because of an unreachable store count as failures, too. */
const failed = ({ failures, denials }: FaultResult['figures']): number =>
  Object.values(failures).reduce((so, count) => so + count, 0) +
  (denials['unavailable'] ?? 0) +
  (denials['no-quorum'] ?? 0);

function takeovers(results: readonly FaultResult[]): string[] {
  const killed = results.filter(({ fault }) => fault === 'kill-holder').flatMap((result) => result.takeovers);
  if (killed.length === 0) return [];
  const rows = distributionByDuration(killed).map(([duration, times]) => [
    `${duration}`,
    spread(times),
    `${duration + CLOCK_TOLERANCE + 1000}`,
  ]);
  const columns = ['permit lasts (ms)', 'n, median, p99, max (ms)', 'allowed: duration + clockTolerance + 1 s'];
  return ['Takeovers after kill -9 of the holder of a single permit, all stores:', '', ...table(columns, rows), ''];
}

function tolerated(results: readonly FaultResult[]): string[] {
  const split = results.filter(({ tolerated }) => tolerated > 0);
  if (split.length === 0) return [];
  const counts = split.map(({ fault, tolerated }) => `${fault} ${tolerated} times`).join(', ');
  return [
    `Where there was no quorum both sides of a split granted, as documented (overlaps and tokens out of order): ${counts}.`,
    '',
  ];
}

function machine(results: readonly FaultResult[]): string {
  const memory = (totalmem() / 2 ** 30).toFixed(0);
  const stores = new Set(results.map(({ store }) => (isOnServer(store) ? SERVERS[store] : hazelcast(store))));
  return [`${cpus().length} cores`, `${memory} GB`, `Node ${process.versions.node}`, ...stores].join(', ');
}

const SERVERS = { postgres: 'one PostgreSQL', redis: 'one Redis, with a replica for its failovers' };

function hazelcast(store: MemberStoreName): string {
  const said = spawnSync('java', ['-version'], { encoding: 'utf8' }).stderr ?? '';
  const java = /version "([^"]+)"/.exec(said)?.[1] ?? 'unknown';
  return `${MEMBERS} members of Hazelcast ${MEMBER_STORES[store].members.version ?? pinnedVersion()} on Java ${java}`;
}
