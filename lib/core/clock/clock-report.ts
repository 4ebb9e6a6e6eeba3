import { z } from 'zod';
import { whole } from '../decision/answer-values.js';

/* Import only types from here in code that an application loads. */

export const clockReportSchema = z
  .object({
    offset: z.number().optional().meta({
      description: "cluster time minus this node's wall clock, in ms; absent before the first sample",
    }),
    errorBound: z.number().optional().meta({
      description: 'the largest error of `offset` in ms: half the round trip of its sample',
    }),
    spread: z.number().meta({
      description: "difference between the highest and the lowest of the members' clocks, in ms",
    }),
    members: whole.meta({ description: 'number of members whose clocks are known' }),
    suspect: z
      .string()
      .optional()
      .meta({ description: "why clocks can't be trusted, for people; absent while they can" }),
  })
  .meta({ id: 'ClockReport' });

/** The state of the cluster clock, for people and health checks. */
export interface ClusterClockReport extends Readonly<z.output<typeof clockReportSchema>> {}
