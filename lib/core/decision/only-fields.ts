import { z } from 'zod';
import { show } from './texts/show.js';
import { escapeHidden } from './texts/hidden-characters.js';

const LONGEST_MESSAGE = 1000;
/** Limit per value: a request body or a stored text may have a fault for each of its characters. */
const MOST_FAULTS = 50;

/** zod type of an object with these fields and no others. Otherwise a misspelt option would silently have no effect. */
export function onlyFields<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: ({ code, input }) => {
      if (code === 'unrecognized_keys') return `not known here; the options are ${known}`;
      return input === undefined ? `is missing: give { ${known} }` : `${show(input)} is not an object of options`;
    },
  });
}

/** The message of a field's check: it contains the value, unlike zod's own. @param wanted "a whole number" */
export function saying(wanted: string) {
  return { error: ({ input }: { input?: unknown }) => `${show(input)} is not ${wanted}` };
}

/**
 * zod's issues as sentences that begin with the path of the field. Returns the first 50 and the number of the others.
 */
export function faultsOf(error: z.ZodError): string[] {
  const faults = error.issues.flatMap(faultsIn);
  const shown = faults.slice(0, MOST_FAULTS).map(([issue, field]) => sentenceOf(issue, field));
  return faults.length > shown.length ? [...shown, `and ${faults.length - shown.length} more faults`] : shown;
}

type Issue = z.ZodError['issues'][number];

/** Splits an issue about several unknown fields into one per field. */
function faultsIn(issue: Issue): [issue: Issue, field?: string][] {
  return issue.code === 'unrecognized_keys' ? issue.keys.map((field) => [issue, field]) : [[issue]];
}

function sentenceOf(issue: Issue, field: string | undefined): string {
  const path = [...issue.path, ...(field === undefined ? [] : [field])].map(partOf).join('.');
  // zod's own message about an unknown field contains the name as it was sent, so it must be escaped.
  return [path, escapeHidden(issue.message.slice(0, LONGEST_MESSAGE))].filter(Boolean).join(': ');
}

/** The sender chooses the field names, so an unusual name is escaped. */
function partOf(field: PropertyKey): string {
  const name = String(field);
  return /^\w{1,50}$/.test(name) ? name : show(name);
}
