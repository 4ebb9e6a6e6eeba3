import type { HistoryEntry } from '../api/answers.js';
import { Badge } from '../parts/badge.js';
import { formatDuration } from '../../../insight/format-duration.js';
import { Outcome } from '../parts/outcome.js';
import { Empty } from '../parts/page-state.js';
import { PlainTable } from '../parts/plain-table.js';
import { SemaphoreLink } from '../parts/semaphore-link.js';
import { DateTime } from '../parts/time.js';

interface HistoryTableProps {
  readonly runs: readonly HistoryEntry[];
  /** Whether the rows belong to several semaphores. Then the table has a column for their names. */
  readonly isOfAll?: boolean;
}

/** Shows runs and skipped runs, newest first. */
export function HistoryTable({ runs, isOfAll = false }: HistoryTableProps) {
  if (runs.length === 0) return <Empty>No runs yet.</Empty>;
  return (
    <PlainTable
      label="History"
      columns={['When', 'Outcome', ...(isOfAll ? ['Work'] : []), 'Job', 'Node', 'Took', 'Detail']}
    >
      {runs.map((entry) => (
        <Entry key={keyOf(entry)} entry={entry} isOfAll={isOfAll} />
      ))}
    </PlainTable>
  );
}

function keyOf({ at, semaphore, node, job, kind }: HistoryEntry): string {
  return `${at} ${semaphore} ${node.instance} ${job} ${kind}`;
}

function Entry({ entry, isOfAll }: { readonly entry: HistoryEntry; readonly isOfAll: boolean }) {
  return (
    <tr>
      <td class="number">
        <DateTime at={entry.at} />
      </td>
      <td>{entry.kind === 'run' ? <Outcome outcome={entry.outcome} /> : <Badge tone="neutral">skipped</Badge>}</td>
      {isOfAll && (
        <td>
          <SemaphoreLink name={entry.semaphore} />
        </td>
      )}
      <td>
        <code>{entry.job}</code>
      </td>
      <td>{entry.node.acquirer}</td>
      <td class="number">{entry.kind === 'run' ? formatDuration(entry.took) : ''}</td>
      <td>{detailOf(entry)}</td>
    </tr>
  );
}

function detailOf(entry: HistoryEntry): string {
  if (entry.kind === 'skip') {
    const { reason, before } = entry;
    return before ? `${reason}, after ${before.count} times ${before.reason}` : reason;
  }
  if (entry.message !== undefined) return entry.message;
  if (entry.token === undefined) return 'without a permit';
  return `token ${entry.token}, slot ${entry.slot}${entry.ended ? `, ended: ${entry.ended}` : ''}`;
}
