import type { SemaphoreDefinition } from '../../core/decision/index.js';
import { exactDuration } from '../../core/decision/texts/exact-duration.js';

const FIELDS = ['permits', 'duration', 'groupPattern', 'acquirerPattern'] as const;

/** Formats the fields that differ between two definitions, or all fields of a new one. */
export function differenceText(from: SemaphoreDefinition | undefined, to: SemaphoreDefinition): string {
  const changed = FIELDS.filter((field) => from?.[field] !== to[field]);
  const texts = changed.map((field) => `${field} ${from ? `${valueOf(from, field)} -> ` : ''}${valueOf(to, field)}`);
  return texts.join(', ') || '-';
}

function valueOf(definition: SemaphoreDefinition, field: (typeof FIELDS)[number]): string {
  return field === 'duration' ? exactDuration(definition.duration) : String(definition[field]);
}
