import { z } from 'zod';
import { show } from '../../../core/decision/index.js';
import { NO_ADDRESS, type Queries, isAddress } from '../../../stores/postgres/pg.js';
import type { Target } from './connection.js';

const text = z.string({ error: ({ input }) => `${show(input)} is not text` });

/** The fields of options that say where the table of an archive is. @param table default name of the table */
export const tableFields = (table: string) => ({
  connectionString: text.min(1, { error: 'is empty' }).refine(isAddress, { error: NO_ADDRESS, abort: true }).optional(),
  pool: z
    .custom<Queries | undefined>((value) => typeof (value as Queries | undefined)?.query === 'function', {
      error: "is no pool: give pg's pool, or an object with its query(text, values)",
    })
    .optional(),
  table: text
    .regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}(\.[A-Za-z_][A-Za-z0-9_]{0,62})?$/, {
      error: ({ input }) =>
        `${show(input)} is no table's name: use letters, digits and _, and a schema with a dot before it if needed`,
    })
    .default(table),
});

/** Whether options name either a server or a pool. */
export const isOneTarget = ({ connectionString, pool }: Target): boolean =>
  (connectionString === undefined) !== (pool === undefined);
/** The fault of options that do not. */
export const NOT_ONE_TARGET = 'give either connectionString or pool';
