import { z } from 'zod';
import { numberReadBy } from './definition.js';
import { readDelay } from './duration.js';
import { show } from './texts/show.js';

/** zod type of a boolean option. The error text contains the value, as for all options. */
export const switchSchema = z.boolean({ error: ({ input }) => `${show(input)} is neither true nor false` });

/** zod type of a whole number. The error says both ends of the range, whatever is wrong. */
export function wholeSchema(least: number, most: number) {
  const error = ({ input }: { readonly input?: unknown }) =>
    `${show(input)} is not a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
}

/** zod type of an option that has a few allowed words. */
export function choiceSchema<const Choices extends readonly string[]>(choices: Choices) {
  const listed = choices.map((choice) => show(choice)).join(' or ');
  return z.enum(choices, { error: ({ input }) => `${show(input)} is not ${listed}` });
}

/** zod type of a duration that may also be 0: accepts numbers and text, returns ms. */
export const delaySchema = numberReadBy(readDelay);
