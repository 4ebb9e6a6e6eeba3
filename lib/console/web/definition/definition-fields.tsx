import type { ComponentChildren } from 'preact';
import { Field } from '../parts/field.js';
import { type DefinitionInput, FIELDS, FIELD_LABELS, type FieldName } from './definition-input.js';

const HINTS: Record<FieldName, string> = {
  groupPattern: 'RE2; must match the node’s whole group',
  acquirerPattern: 'RE2; must match the acquirer’s whole name',
  permits: '0 to 1,000; with 0 no permit is granted',
  duration: '“30s”, “5m”, “1h”, “PT5M”, or ms',
};

interface DefinitionFieldsProps {
  readonly input: DefinitionInput;
  readonly onInput: (input: DefinitionInput) => void;
  readonly faultsOf: (field: string) => readonly string[];
  /** Text below a field, besides its hint. */
  readonly note?: (field: FieldName) => ComponentChildren;
}

export function DefinitionFields({ input, onInput, faultsOf, note }: DefinitionFieldsProps) {
  return (
    <div class="fields">
      {FIELDS.map((field) => (
        <Field
          key={field}
          label={FIELD_LABELS[field]}
          value={input[field]}
          onValue={(value) => onInput({ ...input, [field]: value })}
          faults={faultsOf(field)}
          hint={
            <>
              <span>{HINTS[field]}</span>
              {note?.(field)}
            </>
          }
          input={{ class: 'code', ...(field === 'permits' && { inputMode: 'numeric' }) }}
        />
      ))}
    </div>
  );
}
