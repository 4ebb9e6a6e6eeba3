import { z } from 'zod';
import { show } from './duration.js';
import { escapeHidden } from './hidden-characters.js';

const LONGEST_MESSAGE = 1000;

/** A zod type of an object with these fields and no others: a misspelt one would silently be of no effect. */
export function onlyFields<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: ({ code, input }) => {
      if (code === 'unrecognized_keys') return `not known here; the options are ${known}`;
      return input === undefined ? `is missing: give { ${known} }` : `${show(input)} is not an object of options`;
    },
  });
}

/** zod's issues as sentences that begin with the path of the field. */
export function faultsOf(error: z.ZodError): string[] {
  return error.issues.flatMap((issue) => {
    const fields = issue.code === 'unrecognized_keys' ? issue.keys : [undefined];
    return fields.map((field) => {
      const path = [...issue.path, ...(field === undefined ? [] : [field])].map(partOf).join('.');
      // zod's own message of an unknown field names it again, as it was sent.
      return [path, escapeHidden(issue.message.slice(0, LONGEST_MESSAGE))].filter(Boolean).join(': ');
    });
  });
}

/** A field may be called anything by who sends it. */
function partOf(field: PropertyKey): string {
  const name = String(field);
  return /^\w{1,50}$/.test(name) ? name : show(name);
}
