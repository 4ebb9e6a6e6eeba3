import type { HistoryEntry } from '../api/answers.js';
import { Badge } from '../parts/badge.js';
import { formatDuration } from '../../../insight/format-duration.js';
import { Outcome } from '../parts/outcome.js';
import { Empty } from '../parts/page-state.js';
import { PlainTable } from '../parts/plain-table.js';
import { DateTime } from '../parts/time.js';

/** Shows runs and skipped runs, newest first. */
export function HistoryTable({ runs }: { readonly runs: readonly HistoryEntry[] }) {
  if (runs.length === 0) return <Empty>No runs yet.</Empty>;
  return (
    <PlainTable label="History" columns={['When', 'Outcome', 'Job', 'Node', 'Took', 'Detail']}>
      {runs.map((entry) => (
        <Entry key={`${entry.at} ${entry.node.instance} ${entry.job} ${entry.kind}`} entry={entry} />
      ))}
    </PlainTable>
  );
}

function Entry({ entry }: { readonly entry: HistoryEntry }) {
  return (
    <tr>
      <td class="number">
        <DateTime at={entry.at} />
      </td>
      <td>{entry.kind === 'run' ? <Outcome outcome={entry.outcome} /> : <Badge tone="neutral">skipped</Badge>}</td>
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
  return entry.token === undefined ? 'without a permit' : `token ${entry.token}, slot ${entry.slot}`;
}
