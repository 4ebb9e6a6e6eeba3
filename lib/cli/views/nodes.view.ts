import type { NodeOverview } from '../../gatekeeper/index.js';
import { formatDuration } from '../../operate/insight/format-duration.js';
import { table } from '../text/table.js';

const HEAD = [
  'group',
  'acquirer',
  'instance',
  'host',
  'pid',
  'application',
  'version',
  'up',
  'heard',
  'clock',
  'jobs',
  'holds',
];

/** Formats the living nodes. @param now cluster time, ms since the epoch */
export function nodesText({ now, nodes }: { now: number; nodes: readonly NodeOverview[] }): string {
  return nodes.length > 0
    ? table(
        HEAD,
        nodes.map((node) => row(node, now)),
      )
    : 'no nodes';
}

function row(node: NodeOverview, now: number): string[] {
  const { group, acquirer, instance, host, pid, application, version, startedAt, at, clock, jobs, holds } = node;
  return [
    group,
    acquirer,
    instance.slice(0, 8),
    host,
    String(pid),
    application ?? '-',
    version ?? '-',
    formatDuration(now - startedAt),
    `${formatDuration(now - at)} ago`,
    clock.suspect ? `suspect: ${clock.suspect}` : clock.offset === undefined ? '-' : `${clock.offset}ms`,
    String(jobs.length),
    holds.map(({ semaphore, slot }) => `${semaphore}:${slot}`).join(', ') || '-',
  ];
}
