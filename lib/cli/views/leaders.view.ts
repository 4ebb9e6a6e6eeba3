import type { LeadersOverview, MemberState, NodeIdentity, ScopeOverview } from '../../gatekeeper/index.js';
import { formatDuration } from '../../operate/insight/format-duration.js';
import { plain } from '../text/plain.js';
import { table } from '../text/table.js';
import { timeText } from '../text/times.js';

/** Formats the scopes, one line each, and below them the nodes of the membership. */
export function leadersText({ now, scopes, members, problems }: LeadersOverview): string {
  const head = ['scope', 'leader', 'instance', 'term', 'since', 'ends', 'candidates', 'remark'];
  const led =
    scopes.length > 0
      ? table(
          head,
          scopes.map((scope) => scopeRow(scope, now)),
        )
      : 'no scopes of leadership';
  const nodes =
    members.length > 0
      ? table(
          ['group', 'acquirer', 'instance', 'host', 'version', 'state', 'scopes', 'metadata'],
          members.map(memberRow),
        )
      : 'no participants';
  return [led, '', nodes, ...problems.map(plain)].join('\n');
}

/** "production/app1" */
export function nodeText({ group, acquirer }: NodeIdentity): string {
  return `${group}/${acquirer}`;
}

function scopeRow(
  { scope, leader, term, since, expiresAt, candidates, ...rest }: ScopeOverview,
  now: number,
): string[] {
  return [
    scope,
    leader ? nodeText(leader) : '-',
    leader ? leader.instance.slice(0, 8) : '-',
    term === undefined ? '-' : String(term),
    since === undefined ? '-' : timeText(since),
    expiresAt === undefined ? '-' : formatDuration(expiresAt - now),
    String(candidates),
    remarks(rest).join('; '),
  ];
}

function remarks({ problem, pause, fault, keptFor }: Pick<ScopeOverview, 'problem' | 'pause' | 'fault' | 'keptFor'>) {
  const short = keptFor?.instance.slice(0, 8);
  return [
    ...(problem === undefined ? [] : [problem]),
    ...(fault ? [`no-leader: ${fault.sentence}`] : []),
    ...(pause && !fault ? [`paused by ${pause.by}${pause.reason ? `: ${pause.reason}` : ''}`] : []),
    ...(keptFor ? [keptFor.isExcluded ? `${short} was asked to step down` : `the next term is kept for ${short}`] : []),
  ];
}

function memberRow({ group, acquirer, instance, host, version = '-', state, scopes, metadata }: MemberState): string[] {
  const about = JSON.stringify(metadata);
  const taken = scopes ? scopes.join(', ') || '-' : '?';
  return [group, acquirer, instance.slice(0, 8), host, version, state, taken, about === '{}' ? '-' : about];
}
