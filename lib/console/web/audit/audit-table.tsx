import { useState } from 'preact/hooks';
import { AUDIT_COLUMNS } from '../../lists/changes.js';
import { type Columns, columnsOf, pick, withoutValue } from '../../lists/column.js';
import type { AuditEntry } from '../api/answers.js';
import { DefinitionChanges } from '../definition/definition-changes.js';
import { Badge } from '../parts/badge.js';
import { Excerpt } from '../parts/excerpt.js';
import { count } from '../parts/format.js';
import { Empty } from '../parts/page-state.js';
import { type Cells, PlainTable } from '../parts/plain-table.js';
import { SemaphoreLink } from '../parts/semaphore-link.js';
import { hrefOf } from '../parts/router.js';
import { whyNot } from '../live/session.js';
import { GroupLink, TaskLink } from '../parts/task-links.js';
import { type LoggedChange, type UndoOffer, changesOf, undoOf } from './changes.js';
import { UndoDialog } from './undo-dialog.js';

interface AuditRow {
  readonly change: LoggedChange;
  readonly undo: UndoOffer;
}

const COLUMNS = {
  ...columnsOf(AUDIT_COLUMNS, ({ change: { parts } }: AuditRow) => parts[0]),
  through: { title: 'Through', value: ({ change: { parts } }) => parts[0].node.acquirer },
  undo: withoutValue('Undo'),
} satisfies Columns<AuditRow>;

const COLUMN_NAMES = ['when', 'by', 'action', 'semaphore', 'change', 'reason', 'through', 'undo'] as const;

const CELLS: Cells<AuditRow> = {
  by: { isNamed: true },
  action: {
    show: ({ change: { parts } }) => (
      <>
        <Badge tone="neutral">{parts[0].action}</Badge>
        <Outcomes parts={parts} />
      </>
    ),
  },
  semaphore: {
    show: ({ change: { parts } }) =>
      parts.length > 1 ? <Parts parts={parts} /> : <Subject name={parts[0].semaphore} />,
  },
  change: {
    show: ({ change: { parts } }) => (parts.length > 1 ? <Common parts={parts} /> : <Change entry={parts[0]} />),
  },
  reason: {
    show: ({ change: { parts } }) => parts[0].reason !== undefined && <Excerpt>{parts[0].reason}</Excerpt>,
    class: 'detail',
  },
  through: { class: 'second', isNamed: true },
};

interface AuditTableProps {
  readonly entries: readonly AuditEntry[];
  /** Whether all rows belong to one semaphore. Then the table has no column for its name. */
  readonly isOfOne?: boolean;
}

/** Shows changes with author and reason, newest first. The parts of a change of many share a row. */
export function AuditTable({ entries, isOfOne = false }: AuditTableProps) {
  const [undoing, setUndoing] = useState<LoggedChange>();
  if (entries.length === 0) return <Empty>No changes yet.</Empty>;
  const rows = changesOf(entries).map((change): AuditRow => ({ change, undo: undoOf(change, whyNot) }));
  // A column that would only say why there is no undo has no place.
  const hasUndo = rows.some(({ undo }) => undo.kind !== 'refused');
  const names = COLUMN_NAMES.filter((name) => (name !== 'semaphore' || !isOfOne) && (name !== 'undo' || hasUndo));
  return (
    <>
      <PlainTable
        label="Changes"
        columns={pick(COLUMNS, names)}
        rows={rows}
        keyOf={({ change: { undoId, parts } }) => `${undoId} ${parts[0].at} ${parts[0].semaphore} ${parts[0].action}`}
        cells={{
          ...CELLS,
          undo: {
            show: ({ undo, change }) => <Undo undo={undo} parts={change.parts} onUndo={() => setUndoing(change)} />,
            isNamed: ({ undo }) => undo.kind === 'refused',
          },
        }}
      />
      {undoing && <UndoDialog change={undoing} onClose={() => setUndoing(undefined)} />}
    </>
  );
}

/** Counts the parts that were not made, or may not have been. */
function Outcomes({ parts }: Pick<LoggedChange, 'parts'>) {
  const amount = (wanted: AuditEntry['outcome']) => {
    const found = parts.filter(({ outcome }) => outcome === wanted).length;
    return found > 0 && (parts.length > 1 ? `${found}: ` : ' ');
  };
  const [unknown, notMade] = [amount('unknown'), amount('not-made')];
  return (
    <>
      {unknown && <Badge tone="warning">{unknown}outcome unknown</Badge>}
      {notMade && <Badge tone="neutral">{notMade}not made</Badge>}
    </>
  );
}

/** Maximum number of listed names. The others are counted. */
const MOST_SHOWN = 200;

function Parts({ parts }: Pick<LoggedChange, 'parts'>) {
  return (
    <details>
      <summary>{count(parts.length, 'semaphore')}</summary>
      <ul class="changes">
        {parts.slice(0, MOST_SHOWN).map(({ id, semaphore }) => (
          <li key={id}>
            <Subject name={semaphore} />
          </li>
        ))}
        {parts.length > MOST_SHOWN && <li>and {parts.length - MOST_SHOWN} more</li>}
      </ul>
    </details>
  );
}

/** The change of the newest part. A migration changes all its parts to the same patterns, but from different ones. */
function Common({ parts: [{ action, to }] }: Pick<LoggedChange, 'parts'>) {
  if (action !== 'migrate' || !to) return null;
  return (
    <>
      to <ins>{to.groupPattern}</ins>, <ins>{to.acquirerPattern}</ins>
    </>
  );
}

interface UndoProps extends Pick<LoggedChange, 'parts'> {
  readonly onUndo: () => void;
  readonly undo: UndoOffer;
}

function Undo({ undo, parts, onUndo }: UndoProps) {
  if (undo.kind === 'undone') return <span class="second">undone by {undo.by}</span>;
  if (undo.kind === 'refused') return <span class="second">{undo.why}</span>;
  const [{ semaphore }] = parts;
  const what = parts.length > 1 ? count(parts.length, 'semaphore') : semaphore;
  return (
    <button type="button" aria-label={`Undo change of ${what}…`} onClick={onUndo}>
      Undo…
    </button>
  );
}

const ALLOCATION = 'allocation:';
const MAINTENANCE = 'maintenance:';

/** A link to the semaphore, the allocation group, or the maintenance windows. */
function Subject({ name }: { readonly name: string }) {
  if (name.startsWith(MAINTENANCE)) {
    return (
      <a class="name" href={hrefOf(['operate'])}>
        {name}
      </a>
    );
  }
  if (!name.startsWith(ALLOCATION)) return <SemaphoreLink name={name} />;
  return (
    <a class="name" href={hrefOf(['nodes', 'allocation'], { group: name.slice(ALLOCATION.length) })}>
      {name}
    </a>
  );
}

function Change({ entry }: { readonly entry: AuditEntry }) {
  const { action, from, to, permit, target, order, task, job, count: tasks = 1 } = entry;
  if (task !== undefined) return <TaskSubject id={task} others={tasks - 1} />;
  if (action === 'type-off' || action === 'type-on') return <>on {target?.acquirer}</>;
  if (job !== undefined) return <code>{job}</code>;
  if (order?.left !== undefined) return <>{count(order.left, 'known resource')} left</>;
  if (order) return <>{[order.resource, order.node].filter((each) => each !== undefined).join(' on ')}</>;
  if (target) return <>{`from ${permit?.acquirer ?? 'no leader'} to ${target.acquirer}`}</>;
  if (permit) return <>{`slot ${permit.slot} of ${permit.acquirer}, token ${permit.token}`}</>;
  return to ? <DefinitionChanges from={from} to={to} /> : null;
}

/** A link to the task, or to the group. @param others number of further tasks of the entry */
function TaskSubject({ id, others }: { readonly id: string; readonly others: number }) {
  const [, type, group] = /^([\w.-]+)\[(.+)\]$/su.exec(id) ?? [];
  if (type !== undefined && group !== undefined) return <GroupLink group={{ type, group }} />;
  return (
    <>
      <TaskLink id={id} />
      {others > 0 && ` and ${others} more`}
    </>
  );
}
