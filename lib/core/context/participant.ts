import { z } from 'zod';
import { time } from '../decision/answer-values.js';

/* Import only types from here in code that an application loads. */

/** A value that JSON can express. */
export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [field: string]: JsonValue };

/** Data that an application publishes about its node, for example the address at which it can be called. */
export type NodeMetadata = { readonly [field: string]: JsonValue };

export const participantSchema = z.object({
  group: z.string().meta({ description: 'zone or environment' }),
  acquirer: z.string().meta({ description: 'name of the node' }),
  instance: z.string().meta({ description: 'random, new at each start of the process' }),
  id: z.string().meta({ description: 'the same as instance' }),
  host: z.string().meta({ description: 'name of the machine' }),
  version: z.string().optional().meta({ description: "the application's version, if its options say it" }),
  /** Data that the application publishes about the node. Empty by default. */
  metadata: z.custom<NodeMetadata>().meta({
    id: 'NodeMetadata',
    type: 'object',
    additionalProperties: true,
    description: 'as the node publishes it',
  }),
  /** Cluster time in ms at which the node first joined. */
  startedAt: time,
});

/** A node that has a membership lease: it takes part in leadership and allocation. */
export interface Participant extends Readonly<z.output<typeof participantSchema>> {}
