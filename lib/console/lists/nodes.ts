import type { MemberState, NodeOverview, ScopeOverview } from '../../gatekeeper/index.js';
import { formatDuration } from '../../operate/insight/format-duration.js';
import type { Columns } from './column.js';
import { shortId } from './texts.js';

/** Living nodes. */
export const NODE_COLUMNS = {
  group: { title: 'Group', value: ({ group }: Pick<NodeOverview, 'group'>) => group, firstOrder: 'ascending' },
  acquirer: {
    title: 'Acquirer',
    value: ({ acquirer }: Pick<NodeOverview, 'acquirer'>) => acquirer,
    firstOrder: 'ascending',
  },
  instance: { title: 'Instance', value: ({ instance }) => shortId(instance) },
  host: { title: 'Host', value: ({ host }) => host },
  pid: { title: 'Pid', value: ({ pid }) => pid },
  application: { title: 'Application', value: ({ application }) => application },
  version: {
    title: 'Version',
    value: ({ version }: { readonly version?: string | undefined }) => version,
    firstOrder: 'ascending',
  },
  up: {
    title: 'Up',
    value: ({ startedAt }) => startedAt,
    text: ({ startedAt }, now) => formatDuration(now - startedAt),
  },
  heard: { title: 'Heard', value: ({ at }) => at, text: ({ at }, now) => `${formatDuration(now - at)} ago` },
  clock: {
    title: 'Clock',
    value: ({ clock: { offset, suspect } }) =>
      suspect ? `suspect: ${suspect}` : offset === undefined ? undefined : `${offset}ms`,
  },
  jobs: { title: 'Jobs', value: ({ jobs }) => jobs.length },
  holds: {
    title: 'Holds',
    value: ({ holds }) => holds.map(({ semaphore, slot }) => `${semaphore}:${slot}`).join(', ') || undefined,
  },
} satisfies Columns<NodeOverview>;

/** Scopes of leadership. */
export const SCOPE_COLUMNS = {
  scope: { title: 'Scope', value: ({ scope }) => scope },
  leader: { title: 'Leader', value: ({ leader }) => leader && `${leader.group}/${leader.acquirer}` },
  instance: { title: 'Instance', value: ({ leader }) => leader && shortId(leader.instance) },
  term: { title: 'Term', value: ({ term }) => term },
  since: { title: 'Since', value: ({ since }) => since, kind: 'time' },
  ends: {
    title: 'Ends',
    value: ({ expiresAt }) => expiresAt,
    text: ({ expiresAt = 0 }, now) => formatDuration(expiresAt - now),
  },
  candidates: { title: 'Candidates', value: ({ candidates }) => candidates },
  remark: { title: 'Remark', value: remarkOf },
} satisfies Columns<ScopeOverview>;

function remarkOf({ problem, pause, fault, keptFor }: ScopeOverview): string {
  const short = keptFor && shortId(keptFor.instance);
  return [
    ...(problem === undefined ? [] : [problem]),
    ...(fault ? [`no-leader: ${fault.sentence}`] : []),
    ...(pause && !fault ? [`paused by ${pause.by}${pause.reason ? `: ${pause.reason}` : ''}`] : []),
    ...(keptFor ? [keptFor.isExcluded ? `${short} was asked to step down` : `the next term is kept for ${short}`] : []),
  ].join('; ');
}

/** The nodes that take part in leadership and allocation. */
export const MEMBER_COLUMNS = {
  group: { title: 'Group', value: ({ group }) => group },
  acquirer: { title: 'Acquirer', value: ({ acquirer }) => acquirer },
  instance: { title: 'Instance', value: ({ instance }) => shortId(instance) },
  host: { title: 'Host', value: ({ host }) => host },
  version: { title: 'Version', value: ({ version }) => version },
  state: { title: 'State', value: ({ state }) => state },
  scopes: { title: 'Scopes', value: ({ scopes }) => (scopes ? scopes.join(', ') || undefined : '?') },
  metadata: { title: 'Metadata', value: ({ metadata }) => metadataOf(metadata) },
} satisfies Columns<MemberState>;

function metadataOf(metadata: MemberState['metadata']): string | undefined {
  const text = JSON.stringify(metadata);
  return text === '{}' ? undefined : text;
}
