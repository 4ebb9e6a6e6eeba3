import { ApiError, messageOf } from '../api/api-error.js';

/**
 * Returns the faults of one field, without its name. A fault of the API begins with the field: "permits: -1 is not …".
 */
export function faultsAt(field: string, faults: readonly string[]): string[] {
  return faults.filter((fault) => fieldOf(fault) === field).map((fault) => fault.slice(field.length + 2));
}

/** Returns the faults of a refused request. */
export function faultsIn(error: unknown): readonly string[] {
  return (error instanceof ApiError && error.problem.faults) || [];
}

/** The sentence at the end of a form. It repeats no faults that the fields show themselves. */
export function sentenceOf(error: unknown, fields: readonly string[]): string | undefined {
  if (error === undefined) return undefined;
  const faults = faultsIn(error);
  const isAtFields = faults.length > 0 && faults.every((fault) => fields.includes(fieldOf(fault) ?? ''));
  return isAtFields ? 'Nothing was changed: correct the marked fields.' : messageOf(error);
}

function fieldOf(fault: string): string | undefined {
  return /^(\w+): /.exec(fault)?.[1];
}
