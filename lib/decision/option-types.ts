import { z } from 'zod';
import { numberReadBy } from './definition.js';
import { readDuration } from './duration.js';
import { show } from './texts/show.js';

/** zod type of a switch. The fault names the value, as those of all options do. */
export const switchSchema = z.boolean({ error: ({ input }) => `${show(input)} is neither true nor false` });

/** zod type of one of a few words. */
export function choiceSchema<const Choices extends readonly string[]>(choices: Choices) {
  const listed = choices.map((choice) => show(choice)).join(' or ');
  return z.enum(choices, { error: ({ input }) => `${show(input)} is not ${listed}` });
}

/** zod type of a duration that may also be 0: reads numbers and text, gives ms. */
export const delaySchema = numberReadBy((value) => (value === 0 ? 0 : readDuration(value)));
