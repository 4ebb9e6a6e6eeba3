import { FORMER_VERSION, NOT_MADE, refusalOfKind } from '../../../operate/definitions/undo/refusals.js';
import type { AuditEntry, DefinitionChange, Role } from '../api/answers.js';

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
const UNDO_ROLES: Record<DefinitionChange['kind'], Role> = {
  pause: 'operate',
  resume: 'operate',
  migrate: 'operate',
  define: 'define',
  edit: 'define',
  reset: 'define',
  remove: 'define',
  follow: 'define',
};

/** The undo of a change as the list shows it: a button, its author, or why there is none. */
export type UndoOffer =
  | { readonly kind: 'offered' }
  | { readonly kind: 'undone'; readonly by: string }
  | { readonly kind: 'refused'; readonly why: string };

/** @param whyNot why the user lacks a role; undefined if the user has it */
export function undoOf(
  { parts, undoneBy, undoId }: LoggedChange,
  whyNot: (role: Role) => string | undefined,
): UndoOffer {
  if (undoneBy !== undefined) return { kind: 'undone', by: undoneBy };
  const [{ action, outcome }] = parts;
  const unlogged = outcome === 'not-made' ? NOT_MADE : FORMER_VERSION;
  const own = refusalOfKind(action) ?? (undoId === undefined ? unlogged : undefined);
  const why = own ?? whyNot(UNDO_ROLES[action as DefinitionChange['kind']]);
  return why === undefined ? { kind: 'offered' } : { kind: 'refused', why };
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
