import { distributionOf } from '../../proof/history/distribution.js';
import { spread, stale, table } from './markdown.js';
import { type FaultResult, OWNER_TAKEOVER } from './run-fault.js';
import type { Loss, Takeover } from './takeovers-after-loss.js';
import { CLOCK_TOLERANCE, LEASE } from './test-bed.js';

const SPREAD = 'n, median, p99, max (ms)';
const CRASH = `${LEASE + CLOCK_TOLERANCE + 1000}: lease + clockTolerance + 1 s`;
const OWNER_CRASH = `${OWNER_TAKEOVER}: lease + clockTolerance + 2 s`;
const REACHED = 'if all others reach the store';

/** Each loss, with the time that a takeover may take for a leader, and for an owner. */
const LOSSES: readonly [loss: Loss, leader: string, owner: string][] = [
  ['kill -9', CRASH, OWNER_CRASH],
  ['freeze', CRASH, OWNER_CRASH],
  ['cut', `${CRASH}, ${REACHED}`, `${OWNER_CRASH}, ${REACHED}`],
  ['resignation', 'a moment', ''],
  ['transfer', 'a moment', ''],
  ['shutdown', 'a moment', 'a moment'],
];

/** Part of the report about leadership and allocation. */
export function leadersAndOwners(results: readonly FaultResult[]): string[] {
  return [
    '## Leaders and owners',
    '',
    'All clients take part in one leadership and in one allocation group of 24 resources. A process claims a resource',
    'from the start of its work until the end of that work, or of its membership lease. Owner takeover: time from the',
    'death, freeze, cut or shutdown of an owner to the next one. Convergence: time from the end of an injection until each',
    'resource has an owner and the shares of all clients differ by at most 1.',
    '',
    ...table(COLUMNS, [...results.map(row), totals(results)]),
    '',
    ...takeovers(results),
  ];
}

const COLUMNS = [
  'store',
  'fault',
  'terms',
  'double leaders',
  'changes of owners',
  'double owners',
  'stale writes of former owners: tried, refused, applied',
  `owner takeovers: ${SPREAD}`,
  `convergence: ${SPREAD}`,
  'allowed (ms)',
];

function row({ store, fault, leadership, allocation, convergence, tolerated }: FaultResult): string[] {
  const { changes, doubles, staleWrites, takeovers: owners, convergences } = allocation;
  return [
    store,
    fault,
    `${leadership.terms}`,
    countOf(leadership.doubles, tolerated),
    `${changes}`,
    countOf(doubles, tolerated),
    stale(staleWrites.refused, staleWrites.applied),
    spreadOf(owners),
    spread(distributionOf(convergences)),
    `${convergence}`,
  ];
}

function totals(results: readonly FaultResult[]): string[] {
  const total = (of: (result: FaultResult) => number) => results.reduce((so, result) => so + of(result), 0);
  // Where there is no quorum, both sides of a split may have a leader, and owners.
  const doubles = (of: (result: FaultResult) => number) => total((result) => (result.tolerated > 0 ? 0 : of(result)));
  return [
    'all',
    '',
    `${total(({ leadership }) => leadership.terms)}`,
    `${doubles(({ leadership }) => leadership.doubles)}`,
    `${total(({ allocation }) => allocation.changes)}`,
    `${doubles(({ allocation }) => allocation.doubles)}`,
    stale(
      total(({ allocation }) => allocation.staleWrites.refused),
      total(({ allocation }) => allocation.staleWrites.applied),
    ),
    spreadOf(results.flatMap(({ allocation }) => allocation.takeovers)),
    spread(distributionOf(results.flatMap(({ allocation }) => allocation.convergences))),
    '',
  ];
}

function takeovers(results: readonly FaultResult[]): string[] {
  const judged = results.reduce((so, { figures }) => so + figures.judged, 0);
  const leaders = results.flatMap(({ leadership }) => leadership.takeovers);
  const owners = results.flatMap(({ allocation }) => allocation.takeovers);
  const rows = LOSSES.map(([loss, leader, owner]) => [
    loss,
    spreadOf(leaders, loss),
    leader,
    owner === '' ? '' : spreadOf(owners, loss),
    owner,
  ]);
  return [
    `${judged} membership leases were judged to be over. Takeovers, all stores and faults:`,
    '',
    ...table(['loss', `leaders: ${SPREAD}`, 'allowed (ms)', `owners: ${SPREAD}`, 'allowed (ms)'], rows),
    '',
  ];
}

const countOf = (count: number, tolerated: number): string => (tolerated > 0 ? `${count}, tolerated` : `${count}`);

function spreadOf(all: readonly Takeover[], loss?: Loss): string {
  const times = all.filter((each) => loss === undefined || each.loss === loss).map(({ took }) => took);
  return spread(distributionOf(times));
}
