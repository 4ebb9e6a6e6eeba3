import type { ClientConfig, Client as HazelcastClient } from 'hazelcast-client';
import { z } from 'zod';
import { show } from '../../core/decision/texts/show.js';
import { isOneLine } from '../../core/decision/texts/one-line.js';
import { onlyFields } from '../../core/decision/only-fields.js';
import type { ClientLogger } from './client-log.js';
import { clientConfigFaults } from './client-config.faults.js';

/** Messages contain the value, unlike zod's own messages. */
const saying = (wanted: string) => ({ error: ({ input }: { input?: unknown }) => `${show(input)} is not ${wanted}` });

const count = z.int(saying('a whole number')).min(1, saying('1 or more'));
const name = z
  .string(saying('a name'))
  .min(1, 'is empty: give it a name')
  .refine(isOneLine, saying('a name: it has control characters or half a character'));
const address = z
  .string(saying("an address such as '127.0.0.1:5701'"))
  .regex(/^[^\s,]+$/, saying("one address such as '127.0.0.1:5701'"))
  .refine(
    (text) => /:\d+$|^[^:]*$|:.*:/.test(text),
    saying("an address such as '127.0.0.1:5701': the port is no number"),
  )
  .refine((text) => Number(/:(\d+)$/.exec(text)?.[1] ?? 1) <= 65_535, saying('an address with a port up to 65535'));

const clientConfig = z
  .custom<ClientConfig>((value) => typeof value === 'object' && value !== null, saying('a ClientConfig object'))
  .superRefine((config, context) => {
    for (const message of clientConfigFaults(config)) context.addIssue({ code: 'custom', message });
  });

const logger = z.custom<ClientLogger>(
  (value) => ['error', 'warn', 'log'].every((level) => hasMethod(value, level)),
  saying('a logger with the methods error, warn and log'),
);

const client = z.custom<HazelcastClient>(
  (value) => ['getMap', 'getFlakeIdGenerator', 'getLifecycleService'].every((method) => hasMethod(value, method)),
  saying('a HazelcastClient: pass the result of await Client.newHazelcastClient()'),
);

function hasMethod(value: unknown, method: string): boolean {
  return typeof (value as Record<string, unknown> | null | undefined)?.[method] === 'function';
}

const recordShape = {
  quorum: z.union([z.literal('majority'), count], saying("a whole number from 1, or 'majority'")).optional(),
  expectedMembers: count.optional(),
  acquisition: z.enum(['optimistic', 'pessimistic'], saying("'optimistic' or 'pessimistic'")).default('optimistic'),
  cp: z.boolean(saying('true or false')).default(false),
  mapName: name.default('gatekeeper.records'),
  clockName: name.default('gatekeeper.clock'),
};

const ownShape = {
  ...recordShape,
  client: z.undefined().optional(),
  clusterName: name.default('dev'),
  members: z
    .array(address, saying('a list of addresses'))
    .min(1, 'is empty: give at least one address')
    .default(['127.0.0.1:5701']),
  clientConfig: clientConfig.default({}),
  logger: logger.optional(),
};

const givenShape = { ...recordShape, client };

export const ownClientSchema = onlyFields(ownShape);
export const givenClientSchema = onlyFields(givenShape);
