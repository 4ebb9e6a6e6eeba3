import { z } from 'zod';
import { whole } from '../decision/answer-values.js';

/* Import only types from here in code that an application loads. */

export const storeHealthSchema = z
  .object({
    connected: z.boolean().meta({ description: 'whether the client is connected to the cluster' }),
    members: whole.meta({ description: 'number of members that the store sees now; 0 while disconnected' }),
    /**
     * Number of members that the store should have: as configured, or else the most that this client has seen at once in
     * the last hour.
     * Absent for a store that does not know it.
     */
    expected: whole.optional().meta({
      description:
        'members that the store should have: as configured, or the most that this node has seen at once in the last hour',
    }),
    quorum: whole.meta({ description: 'number of members that must be seen before a write; 0 without a quorum' }),
    problem: z
      .string()
      .optional()
      .meta({ description: 'the last failure to connect or to call, in a sentence, while it lasts' }),
  })
  .meta({ id: 'StoreHealth' });

/** The state of the store as its client knows it, without a call. */
export interface StoreHealth extends Readonly<z.output<typeof storeHealthSchema>> {}
