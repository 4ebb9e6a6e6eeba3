import {
  type SemaphoreDefinition,
  type SemaphoreRecord,
  differingFields,
  intendedDefinition,
  quoted,
} from '../decision/index.js';

/**
 * Says in a sentence how the stored definition differs from the one in code, and who changed it. Pure.
 *
 * @returns undefined if they are equal, apart from a pause, or if none is stored
 */
export function codeDifference(code: SemaphoreDefinition, record: SemaphoreRecord | undefined): string | undefined {
  const stored = record && intendedDefinition(record);
  const fields = stored ? differingFields(code, stored) : [];
  if (!stored || fields.length === 0) return undefined;
  const values = fields.map((field) => `${field} ${shown(stored[field])} (code: ${shown(code[field])})`);
  return (
    `${quoted(code.name)}: the stored definition counts, not that of this node's code: ${values.join(', ')}. ` +
    `${authorOf(record)}. The command "reset" takes over that of the code`
  );
}

function shown(value: string | number): string {
  return typeof value === 'number' ? String(value) : quoted(value);
}

/** A pause keeps the change before it out of the record, so it says nothing about the fields. */
function authorOf({ change, pause }: SemaphoreRecord): string {
  if (!change || pause || change.kind === 'resume') return 'An operator or an earlier version of the code defined it';
  return `Last change: ${change.kind} by ${quoted(change.by)}, ${new Date(change.at).toISOString()}`;
}
