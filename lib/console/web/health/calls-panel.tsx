import type { Columns } from '../../lists/column.js';
import { CALL_COLUMNS } from '../../lists/health.js';
import type { Health } from '../api/answers.js';
import { Badge } from '../parts/badge.js';
import { count } from '../parts/format.js';
import { PlainTable } from '../parts/plain-table.js';
import { DateTime, Distance } from '../parts/time.js';

type Part = Health['parts'][number];

const NAMES: Record<Part['part'], string> = {
  reads: 'Reads of one record',
  writes: 'Writes of one record',
  clock: 'Clocks of the members',
  records: 'List of semaphores',
  nodes: 'List of nodes',
  runs: 'Journal of runs',
  audit: 'Journal of changes',
  tasks: 'Tasks',
};

const COLUMNS = { ...CALL_COLUMNS, failing: { ...CALL_COLUMNS.failing, title: 'State' } };

/** The kinds of calls to the store: which fail since when, and how old the last answer of each is. */
export function CallsPanel({ report }: { readonly report: Health }) {
  const { parts, store, unreadable } = report;
  const hasGaps = unreadable.runs + unreadable.audit + unreadable.nodes > 0;
  const columns: Columns<Part> = hasGaps
    ? { ...COLUMNS, left: { title: 'Left out', value: (part: Part) => leftOut(part, report) } }
    : COLUMNS;
  return (
    <section class="panel" aria-labelledby="calls-title">
      <h2 id="calls-title">Calls to the store</h2>
      <PlainTable
        label="Calls to the store"
        columns={columns}
        rows={parts}
        keyOf={({ part }) => part}
        cells={{
          calls: { show: ({ part }) => NAMES[part] },
          failing: { show: (part) => <State part={part} isConnected={store.connected} />, class: '' },
          answered: {
            show: ({ answeredAt }) => (answeredAt === undefined ? 'never' : <Distance at={answeredAt} />),
            class: 'number',
            isNamed: true,
          },
        }}
      />
    </section>
  );
}

/** A call that no one makes does not fail. While the store is away, its last answer is old all the same. */
function State({ part: { failingSince }, isConnected }: { readonly part: Part; readonly isConnected: boolean }) {
  if (failingSince !== undefined)
    return (
      <>
        <Badge tone="bad">failing</Badge> since <DateTime at={failingSince} />
      </>
    );
  return isConnected ? <Badge tone="good">answered</Badge> : <Badge tone="neutral">not asked</Badge>;
}

function leftOut({ part }: Part, { unreadable }: Health): string {
  if (part !== 'runs' && part !== 'audit' && part !== 'nodes') return '';
  return unreadable[part] === 0 ? '' : count(unreadable[part], 'entry', 'entries');
}
