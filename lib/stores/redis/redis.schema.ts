import { z } from 'zod';
import { onlyFields } from '../../core/decision/only-fields.js';
import { show } from '../../core/decision/texts/show.js';
import { isIoredis } from './clients/ioredis.js';
import { isNodeRedis, isNodeRedisSentinel } from './clients/node-redis.js';

/** Messages contain the value, unlike zod's own messages. */
const saying = (wanted: string) => ({ error: ({ input }: { input?: unknown }) => `${show(input)} is not ${wanted}` });

/** Does not contain the value, because it may contain a password. */
const NO_URL =
  'is no address like "redis://user:password@host:6379/0", or "rediss://…" for TLS (write special characters of a password as codes: "%23" for "#")';

const NO_CLIENT =
  'is no client: give one of ioredis (new Redis(), new Cluster()) or of node-redis (createClient(), createCluster()), and no pool';

const NO_SENTINEL =
  'is one of createSentinel() of node-redis, which hides lost connections and repeats writes: for Sentinel, give one of ioredis (new Redis({ sentinels, name }))';

const shape = {
  prefix: z
    .string(saying('a text'))
    .regex(/^[!-z|~]{1,100}$/, saying('a prefix of keys: use up to 100 visible ASCII characters without { and }'))
    .default('gatekeeper:'),
  durable: z.boolean(saying('true or false')).default(false),
  replicas: z.int(saying('a whole number')).min(0, saying('0 or more')).default(0),
};

export const givenClientSchema = onlyFields({
  ...shape,
  client: z.custom<object>((client) => isIoredis(client) || isNodeRedis(client), {
    error: ({ input }) => (isNodeRedisSentinel(input) ? NO_SENTINEL : NO_CLIENT),
  }),
  url: z.undefined({ error: 'give either client or url' }).optional(),
});

export const ownClientSchema = onlyFields({
  ...shape,
  url: z.string({ error: 'is missing or no text: give url, or a client' }).refine(isAddress, { error: NO_URL }),
  client: z.undefined().optional(),
});

/** Whether both packages accept a text as an address. */
function isAddress(text: string): boolean {
  const url = /^rediss?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.hostname === '') return false;
  try {
    decodeURIComponent(`${url.username} ${url.password}`);
  } catch {
    return false; // a "%" without a code
  }
  return /^\/?\d*$/.test(url.pathname);
}
