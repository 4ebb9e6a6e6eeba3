import type { SemaphoreDefinition } from '../api/answers.js';
import { exactDuration } from '../../../core/decision/texts/exact-duration.js';

/** A definition as texts in the fields of a form. */
export interface DefinitionInput {
  readonly groupPattern: string;
  readonly acquirerPattern: string;
  readonly permits: string;
  readonly duration: string;
}

export const FIELDS = ['groupPattern', 'acquirerPattern', 'permits', 'duration'] as const;
export type FieldName = (typeof FIELDS)[number];

export const FIELD_LABELS: Record<FieldName, string> = {
  groupPattern: 'Group pattern',
  acquirerPattern: 'Acquirer pattern',
  permits: 'Permits',
  duration: 'Duration',
};

export function definitionToInput({
  groupPattern,
  acquirerPattern,
  permits,
  duration,
}: SemaphoreDefinition): DefinitionInput {
  return { groupPattern, acquirerPattern, permits: String(permits), duration: exactDuration(duration) };
}

/**
 * Converts the texts to a definition for the API. Sends a text that is not a number unchanged: the node reports the
 * fault.
 */
export function inputToDefinition({ groupPattern, acquirerPattern, permits, duration }: DefinitionInput) {
  return {
    groupPattern,
    acquirerPattern,
    permits: (/^\d+$/.test(permits.trim()) ? Number(permits) : permits) as number,
    duration: duration.trim(),
  };
}

/** Lists the fields in which two inputs differ. */
export function differences(one: DefinitionInput, other: DefinitionInput): FieldName[] {
  return FIELDS.filter((field) => one[field].trim() !== other[field].trim());
}
