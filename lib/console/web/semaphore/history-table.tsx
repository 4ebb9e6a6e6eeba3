import type { ComponentChildren } from 'preact';
import { pick } from '../../lists/column.js';
import { RUN_COLUMNS } from '../../lists/runs.js';
import type { HistoryEntry } from '../api/answers.js';
import { Badge } from '../parts/badge.js';
import { LOSS_WORDS } from '../../../core/context/loss-words.js';
import { Excerpt } from '../parts/excerpt.js';
import { Outcome } from '../parts/outcome.js';
import { Empty } from '../parts/page-state.js';
import { type Cells, PlainTable } from '../parts/plain-table.js';
import { SemaphoreLink } from '../parts/semaphore-link.js';
import { DateTime } from '../parts/time.js';
import { runHref } from '../parts/run-place.js';

interface HistoryTableProps {
  readonly runs: readonly HistoryEntry[];
  /** Whether the rows belong to several semaphores. Then the table has a column for their names. */
  readonly isOfAll?: boolean;
}

/** The remark has the token. */
const COLUMN_NAMES = ['when', 'outcome', 'semaphore', 'job', 'node', 'took', 'remark'] as const;

const CELLS: Cells<HistoryEntry> = {
  when: {
    show: (entry) => (
      <a href={runHref(entry)} title="Page of this run">
        <DateTime at={entry.at} />
      </a>
    ),
  },
  outcome: { show: (entry) => <RunState entry={entry} /> },
  semaphore: { show: ({ semaphore }) => <SemaphoreLink name={semaphore} /> },
  job: { show: ({ job }) => <code>{job}</code> },
  node: { show: ({ node }) => node.acquirer, isNamed: true },
  took: { class: 'number took', isNamed: true },
  remark: { show: remarkOf, class: 'detail' },
};

/** Shows runs and skipped runs, newest first unless the address asks for another order. */
export function HistoryTable({ runs, isOfAll = false }: HistoryTableProps) {
  if (runs.length === 0) return <Empty>No runs yet.</Empty>;
  const names = COLUMN_NAMES.filter((name) => name !== 'semaphore' || isOfAll);
  return <PlainTable label="History" columns={pick(RUN_COLUMNS, names)} rows={runs} keyOf={keyOf} cells={CELLS} />;
}

function keyOf(entry: HistoryEntry): string {
  const { at, semaphore, node, job, kind } = entry;
  // Runs that overlap may begin in one millisecond.
  return `${at} ${semaphore} ${node.instance} ${job} ${kind} ${entry.kind === 'skip' ? entry.reason : entry.run}`;
}

/** Shows the outcome of a run, or that it goes on or was skipped. */
export function RunState({ entry }: { readonly entry: HistoryEntry }) {
  if (entry.kind === 'run') return <Outcome outcome={entry.outcome} />;
  return entry.kind === 'running' ? <Badge tone="accent">running</Badge> : <Badge tone="neutral">skipped</Badge>;
}

/** How the run came about and ended. */
function remarkOf(entry: HistoryEntry): ComponentChildren {
  const cause = entry.kind === 'skip' ? undefined : causeOf(entry);
  if (cause === undefined) return outcomeOf(entry);
  return (
    <>
      {cause}; {outcomeOf(entry)}
    </>
  );
}

/** Why it ran, if no scheduler has started it. */
function causeOf({ by, missed }: { readonly by?: string; readonly missed?: number }): ComponentChildren {
  if (by !== undefined) return <>run by hand, {by}</>;
  if (missed === undefined) return undefined;
  return (
    <>
      makes up for <DateTime at={missed} />
    </>
  );
}

function outcomeOf(entry: HistoryEntry): ComponentChildren {
  if (entry.kind === 'skip') {
    const { reason, before } = entry;
    return before ? `${reason}, after ${before.count} times ${before.reason}` : reason;
  }
  const permit = entry.token === undefined ? 'without a permit' : `token ${entry.token}, slot ${entry.slot}`;
  const lost = entry.loss ? `${permit}, lost: ${LOSS_WORDS[entry.loss.reason]}` : permit;
  if (entry.kind === 'running') return lost;
  const tried = (entry.attempts ?? 1) > 1 ? `${entry.attempts} attempts` : undefined;
  if (entry.message !== undefined) return <Excerpt>{tried ? `${tried}: ${entry.message}` : entry.message}</Excerpt>;
  if (entry.until !== undefined)
    return (
      <>
        {lost}, until <DateTime at={entry.until} />
      </>
    );
  if (entry.ended) return `${permit}, ended: ${entry.ended}`;
  return tried ? `${lost}, ${tried}` : lost;
}
