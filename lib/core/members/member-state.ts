import { z } from 'zod';
import { participantSchema } from '../context/participant.js';
import { list, time } from '../decision/answer-values.js';

/* Import only types from here in code that an application loads. */

export const memberSchema = participantSchema
  .extend({
    /** `living`: its lease goes on. `lapsed`: it did not renew its lease in time. `left`: it closed. */
    state: z.enum(['living', 'lapsed', 'left']).meta({
      description: 'lapsed: it did not renew its membership lease in time; left: it closed',
    }),
    /** Cluster time in ms at which its lease ends, unless it renews it. */
    expiresAt: time,
    scopes: list(z.string())
      .optional()
      .meta({ description: 'scopes in which it takes part; absent if its version does not say it' }),
  })
  .meta({ id: 'Member' });

/** A node of the membership, as the records in the store show it. */
export interface MemberState extends Readonly<z.output<typeof memberSchema>> {}
