import { z } from 'zod';
import { MOST_KEYS } from '../../core/store/store.js';

/**
 * The store SPI over HTTP. The console of an application serves it below its path, and `remote()` is the client. Every
 * answer contains the health of the store behind it, so that no separate call is needed.
 */

/** Increases when the meaning of a call changes. */
export const PROTOCOL_VERSION = 1;
/**
 * Content type of the requests: JSON under its own name. The application's own body parser ignores this type; that
 * parser would refuse texts as large as a record may be. Browsers send a CORS preflight before a foreign page may use
 * it.
 */
export const MEDIA_TYPE = 'application/vnd.gatekeeper.store+json';
/** Largest request body, in bytes: a change of a record of 1 MB has two texts, and JSON escapes some characters. */
export const LARGEST_BODY = 5 * 1024 * 1024;
/** ms between two `beat` events of a watch without changes. */
export const BEAT = 5000;

/** Characters. A store may write each character of a key as two, and put something before it. */
const LONGEST_POSITION = 4000;

const text = z.string();
/** A list of texts. One fault for all of them: a list may have tens of thousands. */
const texts = z.custom<string[]>((value) => Array.isArray(value) && value.every((each) => typeof each === 'string'), {
  error: 'is not a list of texts',
});
const key = z.string().max(1000);
const journal = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/);

const healthSchema = z.object({
  connected: z.boolean(),
  members: z.number().int(),
  expected: z.number().int().optional(),
  quorum: z.number().int(),
  problem: z.string().optional(),
});

const answer = <Shape extends z.ZodRawShape>(shape: Shape) => z.object({ ...shape, health: healthSchema });

/** All calls by name. Each is a POST request. */
export const CALLS = {
  read: {
    path: 'api/store/read',
    body: z.strictObject({ key }),
    answer: answer({ text: text.optional() }),
  },
  compareAndSet: {
    path: 'api/store/compare-and-set',
    writes: true,
    body: z.strictObject({
      key,
      expected: text.optional(),
      next: text,
      notify: z.enum(['all', 'waiting', 'none']).optional(),
    }),
    answer: answer({ written: z.boolean() }),
  },
  list: {
    path: 'api/store/list',
    body: z.strictObject({ prefix: key }),
    answer: answer({ texts: z.array(z.tuple([z.string(), text])) }),
  },
  page: {
    path: 'api/store/page',
    body: z.strictObject({ prefix: key, after: z.string().max(LONGEST_POSITION).optional() }),
    answer: answer({ texts: z.array(z.tuple([z.string(), text])), next: z.string().optional() }),
  },
  readMany: {
    path: 'api/store/read-many',
    body: z.strictObject({ keys: z.array(key).max(MOST_KEYS) }),
    answer: answer({ texts: z.array(z.tuple([z.string(), text])) }),
  },
  now: {
    path: 'api/store/now',
    body: z.strictObject({}),
    answer: answer({ time: z.number(), member: z.string() }),
  },
  health: {
    path: 'api/store/health',
    body: z.strictObject({}),
    answer: answer({ protocol: z.number().int() }),
  },
  append: {
    path: 'api/store/journal/append',
    writes: true,
    body: z.strictObject({ journal, texts }),
    answer: answer({}),
  },
  readJournal: {
    path: 'api/store/journal/read',
    body: z.strictObject({ journal, limit: z.number().int().nonnegative() }),
    answer: answer({ texts: z.array(text) }),
  },
} as const satisfies Record<string, Call>;

/** One call of the protocol. */
export interface Call {
  /** Path below the console's path. */
  readonly path: string;
  readonly writes?: boolean;
  readonly body: z.ZodType;
  readonly answer: z.ZodType<{ readonly health: z.output<typeof healthSchema> }>;
}

export type BodyOf<C extends Call> = z.input<C['body']>;
export type AnswerOf<C extends Call> = z.output<C['answer']>;

/** A stream of server-sent events with the changes below a prefix. The data of each event are JSON. */
export const WATCH = {
  path: 'api/store/watch',
  query: z.object({ prefix: key.default('') }),
  events: {
    /** The stream is open. Changes follow. */
    open: answer({}),
    /** Without a key, anything may have changed. Without a text, the key was removed, unless the change is unproven. */
    change: z.object({ key: z.string().optional(), text: text.optional(), isUnproven: z.literal(true).optional() }),
    beat: answer({}),
  },
} as const;
