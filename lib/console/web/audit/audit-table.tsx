import type { AuditEntry, SemaphoreDefinition } from '../api/answers.js';
import { FIELDS, FIELD_LABELS, definitionToInput, differences } from '../definition/definition-input.js';
import { Badge } from '../parts/badge.js';
import { Empty } from '../parts/page-state.js';
import { PlainTable } from '../parts/plain-table.js';
import { SemaphoreLink } from '../parts/semaphore-link.js';
import { DateTime } from '../parts/time.js';
import { hrefOf } from '../router.js';
import { GroupLink, TaskLink } from '../tasks/task-links.js';

interface AuditTableProps {
  readonly entries: readonly AuditEntry[];
  /** Whether all rows belong to one semaphore. Then the table has no column for its name. */
  readonly isOfOne?: boolean;
}

/** Shows changes with author and reason, newest first. */
export function AuditTable({ entries, isOfOne = false }: AuditTableProps) {
  if (entries.length === 0) return <Empty>No changes yet.</Empty>;
  return (
    <PlainTable
      label="Changes"
      columns={['When', 'Who', 'What', ...(isOfOne ? [] : ['Semaphore']), 'Change', 'Reason', 'Through']}
    >
      {entries.map((entry) => (
        <tr key={`${entry.at} ${entry.semaphore} ${entry.action} ${entry.revision}`}>
          <td class="number">
            <DateTime at={entry.at} />
          </td>
          <td>{entry.by}</td>
          <td>
            <Badge tone="neutral">{entry.action}</Badge>
          </td>
          {!isOfOne && (
            <td>
              <Subject name={entry.semaphore} />
            </td>
          )}
          <td>
            <Change entry={entry} />
          </td>
          <td>{entry.reason}</td>
          <td class="second">{entry.node.acquirer}</td>
        </tr>
      ))}
    </PlainTable>
  );
}

const ALLOCATION = 'allocation:';

/** A link to the semaphore, or to the allocation group. */
function Subject({ name }: { readonly name: string }) {
  if (!name.startsWith(ALLOCATION)) return <SemaphoreLink name={name} />;
  return (
    <a class="name" href={hrefOf(['nodes', 'allocation'], { group: name.slice(ALLOCATION.length) })}>
      {name}
    </a>
  );
}

function Change({ entry: { action, from, to, permit, target, order, task, job } }: { readonly entry: AuditEntry }) {
  if (task !== undefined) return <TaskSubject id={task} />;
  if (action === 'type-off' || action === 'type-on') return <>on {target?.acquirer}</>;
  if (job !== undefined) return <code>{job}</code>;
  if (order) return <>{[order.resource, order.node].filter((each) => each !== undefined).join(' on ')}</>;
  if (target) return <>{`from ${permit?.acquirer ?? 'no leader'} to ${target.acquirer}`}</>;
  if (permit) return <>{`slot ${permit.slot} of ${permit.acquirer}, token ${permit.token}`}</>;
  if (!to) return null;
  return (
    <ul class="changes">
      {changedFields(from, to).map(({ label, before, after }) => (
        <li key={label}>
          {label}: {before !== undefined && <del>{before}</del>} <ins>{after}</ins>
        </li>
      ))}
    </ul>
  );
}

/** A link to the task, or to the group. */
function TaskSubject({ id }: { readonly id: string }) {
  const [, type, group] = /^([\w.-]+)\[(.+)\]$/su.exec(id) ?? [];
  return type !== undefined && group !== undefined ? <GroupLink group={{ type, group }} /> : <TaskLink id={id} />;
}

function changedFields(from: SemaphoreDefinition | undefined, to: SemaphoreDefinition) {
  const after = definitionToInput(to);
  const before = from && definitionToInput(from);
  const fields = before ? differences(before, after) : FIELDS;
  return fields.map((field) => ({ label: FIELD_LABELS[field], before: before?.[field], after: after[field] }));
}
