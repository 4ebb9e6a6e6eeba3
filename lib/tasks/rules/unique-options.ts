import { z } from 'zod';
import { onlyFields, show } from '../../core/decision/index.js';
import { choiceSchema } from '../../core/decision/option-types.js';

const DURING = ['waiting', 'unfinished'] as const;
const ON_CONFLICT = ['keep', 'replace'] as const;

/** Makes a submission and a former one of the same key one task, until the former one has ended. */
export interface UniqueOptions {
  /**
   * The key, or a function of the data that returns it. The task gets the id of `single(type, key)`. Default: the name of
   * the submission.
   */
  readonly key?: string | ((data: never) => string);
  /**
   * `unfinished`: one task of the key at most, until it has ended. `waiting`: one that waits, besides one that runs; it
   * begins when that one has ended. Default "unfinished".
   */
  readonly during?: (typeof DURING)[number];
  /** Which of two submissions counts: the former (`keep`), or the new one (`replace`). Default "keep". */
  readonly onConflict?: (typeof ON_CONFLICT)[number];
}

/** {@link UniqueOptions} without the key, which is in the name. */
export type Unique = Required<Omit<UniqueOptions, 'key'>>;

export const uniqueSchema = onlyFields({
  key: z
    .custom<UniqueOptions['key']>((key) => key === undefined || typeof key === 'string' || typeof key === 'function', {
      error: ({ input }) => `${show(input)} is neither a text nor a function of the data`,
    })
    .optional(),
  during: choiceSchema(DURING).default('unfinished'),
  onConflict: choiceSchema(ON_CONFLICT).default('keep'),
});
