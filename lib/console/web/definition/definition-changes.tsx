import type { SemaphoreDefinition } from '../api/answers.js';
import { FIELDS, FIELD_LABELS, definitionToInput, differences } from './definition-input.js';

interface DefinitionChangesProps {
  readonly from: SemaphoreDefinition | undefined;
  readonly to: SemaphoreDefinition;
}

/** Shows the fields that differ between two definitions, or all fields of a new one. */
export function DefinitionChanges({ from, to }: DefinitionChangesProps) {
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

function changedFields(from: SemaphoreDefinition | undefined, to: SemaphoreDefinition) {
  const after = definitionToInput(to);
  const before = from && definitionToInput(from);
  const fields = before ? differences(before, after) : FIELDS;
  return fields.map((field) => ({ label: FIELD_LABELS[field], before: before?.[field], after: after[field] }));
}
