import type { AuditEntry, Role } from '../api/answers.js';

/** One change as a row shows it: a single entry, or all parts of a change of many. */
export interface LoggedChange {
  /** The id that an undo of the whole takes; absent if it can't be undone. */
  readonly undoId?: string;
  /** The newest part first; at least one. */
  readonly parts: readonly [AuditEntry, ...AuditEntry[]];
  /** Author of the undo, if all parts were undone. */
  readonly undoneBy?: string;
}

/** Roles that the undo of each kind needs: an undo is an ordinary edit. */
const UNDO_ROLES: Partial<Record<AuditEntry['action'], Role>> = {
  pause: 'operate',
  resume: 'operate',
  migrate: 'operate',
  define: 'define',
  edit: 'define',
  reset: 'define',
  remove: 'define',
};

/** @returns the role that the undo needs; undefined for a kind that can't be undone */
export function roleOfUndo({ parts: [{ action }] }: LoggedChange): Role | undefined {
  return UNDO_ROLES[action];
}

/**
 * Groups the parts of changes of many. A group stands where its newest part stands.
 *
 * @param entries the newest first
 */
export function changesOf(entries: readonly AuditEntry[]): LoggedChange[] {
  const undone = new Map(
    entries.flatMap(({ undoes, by, outcome }) =>
      undoes === undefined || outcome !== undefined ? [] : [[undoes, by] as const],
    ),
  );
  const groups = new Map<string, [AuditEntry, ...AuditEntry[]]>();
  for (const [index, entry] of entries.entries()) {
    const key = entry.bulk ?? entry.id ?? `entry ${index}`;
    const group = groups.get(key);
    if (group) group.push(entry);
    else groups.set(key, [entry]);
  }
  return [...groups.values()].map((parts) => changeOf(parts, undone));
}

function changeOf(parts: LoggedChange['parts'], undone: ReadonlyMap<string, string>): LoggedChange {
  const [{ id, bulk, action }] = parts;
  const undoId = parts.length > 1 ? bulk : id;
  const isNotMade = parts.every(({ outcome }) => outcome === 'not-made');
  const isUndone = parts.every((part) => part.id !== undefined && undone.has(part.id));
  return {
    parts,
    ...(undoId !== undefined && action in UNDO_ROLES && !isNotMade && { undoId }),
    ...(isUndone && { undoneBy: undone.get(id!)! }),
  };
}
