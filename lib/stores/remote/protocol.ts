import { z } from 'zod';
import { systemClock } from '../../core/async/node-clock.js';
import { nameSchema } from '../../core/decision/index.js';
import { type Driver, type HintQueue, MOST_KEYS, type TextCollection } from '../../core/store/driver.js';

/**
 * The calls of a driver over HTTP. The console of an application serves them below its path, and `remote()` is the client. Both
 * are made from one table, {@link CALLS}: a call names the collection or the queue that it is about. Every answer contains the
 * health of the store behind it, so that no separate call is needed.
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
/** Longest wait of one poll, in ms: shorter than the time after which proxies take a request for dead. The client polls again. */
export const LONGEST_POLL = 30_000;

/** Characters. A store may write each character of a key as two, and put something before it. */
const LONGEST_POSITION = 4000;

const text = z.string();
/** A list of texts. One fault for all of them: a list may have tens of thousands. */
const listUpTo = (most: number) =>
  z.custom<string[]>(
    (value) => Array.isArray(value) && value.length <= most && value.every((each) => typeof each === 'string'),
    { error: `is not a list of texts${most === Infinity ? '' : `, at most ${most}`}` },
  );
const key = z.string().max(1000);
const journal = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/);
const queue = nameSchema;
const hints = listUpTo(MOST_KEYS);
const count = z.number().int().nonnegative();
const collection = z.enum(['records', 'tasks', 'groups']);
/** Each text with its key before it. */
const entries = z.array(z.tuple([z.string(), text]));

const healthSchema = z.object({
  connected: z.boolean(),
  members: z.number().int(),
  expected: z.number().int().optional(),
  quorum: z.number().int(),
  problem: z.string().optional(),
});

const answer = <Shape extends z.ZodRawShape>(shape: Shape) => z.object({ ...shape, health: healthSchema });

/**
 * The effect of a call that was sent, and so what a call without an answer means:
 *
 * | effect   |                               | no answer                                 | a console that is `readOnly` |
 * | -------- | ----------------------------- | ----------------------------------------- | ---------------------------- |
 * | none     | it reads                      | StoreUnavailableError; may be asked again | serves it                    |
 * | takes    | it takes hints from a queue   | StoreUnavailableError: hints may be lost  | refuses it                   |
 * | writes   | it may have been applied      | UnknownOutcomeError                       | refuses it                   |
 */
type Effect = 'none' | 'takes' | 'writes';

/** One call of the protocol, a POST request. */
export interface Call {
  /** Path below the console's path. */
  readonly path: string;
  readonly effect: Effect;
  /** Whether the call waits for something to happen. Its number is limited on the node that serves it. Default false. */
  readonly waits?: boolean;
  readonly body: z.ZodType;
  readonly answer: z.ZodType<{ readonly health: z.output<typeof healthSchema> }>;
  /**
   * Makes the call, on the node that serves it.
   *
   * @param body after its check
   * @param gone aborts when the client disconnects before its answer
   * @returns the answer without the health
   */
  run(driver: Driver, body: unknown, gone: AbortSignal): Promise<object>;
}

/** A call, with the types of its schemas. */
function call<Body extends z.ZodType, Shape extends z.ZodRawShape>(described: {
  readonly path: string;
  readonly effect: Effect;
  readonly waits?: boolean;
  readonly body: Body;
  readonly answer: Shape;
  run(driver: Driver, body: z.output<Body>, gone: AbortSignal): Promise<z.input<z.ZodObject<Shape>>>;
}) {
  return { ...described, path: `api/store/${described.path}`, answer: answer(described.answer) };
}

/** All calls by name. */
export const CALLS = {
  /** Of one key or several. */
  read: call({
    path: 'read',
    effect: 'none',
    body: z.strictObject({ collection, keys: z.array(key).max(MOST_KEYS) }),
    answer: { texts: entries },
    run: async (driver, { collection, keys }) => ({ texts: await textsUnder(keys, driver[collection]) }),
  }),
  compareAndSet: call({
    path: 'compare-and-set',
    effect: 'writes',
    body: z
      .strictObject({
        collection,
        key,
        expected: text.optional(),
        next: text.optional(),
        notify: z.enum(['all', 'waiting', 'none']).optional(),
        /** Without `hint`, it is the next text, which may be large. */
        hint: z.strictObject({ queue, hint: text.optional() }).optional(),
      })
      .refine(({ collection, hint }) => !hint || collection === 'tasks', {
        path: ['hint'],
        error: 'is only for tasks: leave it out',
      })
      .refine(({ hint, next }) => !hint || (hint.hint ?? next) !== undefined, {
        path: ['hint', 'hint'],
        error: 'is missing: there is no next text that could be the hint',
      })
      .refine(({ collection, next }) => collection !== 'records' || next !== undefined, {
        path: ['next'],
        error: 'is missing: a record is never removed, so write another text in its place',
      }),
    answer: { written: z.boolean() },
    run: async (driver, { collection, key, expected, next, notify, hint: sent }) => {
      // By the check of the body, `next` is only absent for collections that take this.
      const texts: TextCollection = driver[collection];
      const hint = sent && { queue: sent.queue, hint: (sent.hint ?? next)! };
      return {
        written: await texts.compareAndSet(key, expected, next, { ...(notify && { notify }), ...(hint && { hint }) }),
      };
    },
  }),
  /** Of the records. */
  page: call({
    path: 'page',
    effect: 'none',
    body: z.strictObject({ prefix: key, after: z.string().max(LONGEST_POSITION).optional() }),
    answer: { texts: entries, next: z.string().optional() },
    run: async (driver, { prefix, after }) => {
      const { texts, next } = await driver.records.page(prefix, after);
      return { texts: [...texts], ...(next !== undefined && { next }) };
    },
  }),
  /** Of the tasks. */
  range: call({
    path: 'range',
    effect: 'none',
    body: z.strictObject({ from: text, to: text, limit: count.max(MOST_KEYS) }),
    answer: { texts: entries },
    run: async (driver, { from, to, limit }) => {
      const found = await driver.tasks.range(from, to, limit);
      return { texts: found.map(({ key, text }): [string, string] => [key, text]) };
    },
  }),
  offer: call({
    path: 'queue/offer',
    effect: 'writes',
    body: z.strictObject({ queue, hints }),
    answer: {},
    run: async (driver, { queue, hints }) => (await driver.queue(queue).offer(hints), {}),
  }),
  remove: call({
    path: 'queue/remove',
    effect: 'writes',
    body: z.strictObject({ queue, hints }),
    answer: {},
    run: async (driver, { queue, hints }) => (await driver.queue(queue).remove(hints), {}),
  }),
  poll: call({
    path: 'queue/poll',
    effect: 'takes',
    waits: true,
    body: z.strictObject({ queue, patience: z.number().min(0).max(LONGEST_POLL) }),
    answer: { hint: text.optional() },
    run: async (driver, { queue, patience }, gone) => {
      const hint = await driver.queue(queue).poll(patience, gone);
      await expectTaker(gone, driver.queue(queue), hint === undefined ? [] : [hint]);
      return { hint };
    },
  }),
  drain: call({
    path: 'queue/drain',
    effect: 'takes',
    body: z.strictObject({ queue, most: count.max(MOST_KEYS) }),
    answer: { hints: z.array(text) },
    run: async (driver, { queue, most }, gone) => {
      const hints = await driver.queue(queue).drain(most);
      await expectTaker(gone, driver.queue(queue), hints);
      return { hints };
    },
  }),
  peek: call({
    path: 'queue/peek',
    effect: 'none',
    body: z.strictObject({ queue }),
    answer: { hint: text.optional() },
    run: async (driver, { queue }) => ({ hint: await driver.queue(queue).peek() }),
  }),
  size: call({
    path: 'queue/size',
    effect: 'none',
    body: z.strictObject({ queue }),
    answer: { size: count },
    run: async (driver, { queue }) => ({ size: await driver.queue(queue).size() }),
  }),
  append: call({
    path: 'journal/append',
    effect: 'writes',
    body: z.strictObject({ journal, texts: listUpTo(Infinity) }),
    answer: {},
    run: async (driver, { journal, texts }) => (await driver.journal(journal).append(texts), {}),
  }),
  readJournal: call({
    path: 'journal/read',
    effect: 'none',
    body: z.strictObject({ journal, limit: count }),
    answer: { texts: z.array(text) },
    run: async (driver, { journal, limit }) => ({ texts: await driver.journal(journal).read(limit) }),
  }),
  now: call({
    path: 'now',
    effect: 'none',
    body: z.strictObject({}),
    answer: { time: z.number(), member: z.string() },
    run: (driver) => driver.now(),
  }),
  health: call({
    path: 'health',
    effect: 'none',
    body: z.strictObject({}),
    answer: { protocol: z.number().int() },
    run: async () => ({ protocol: PROTOCOL_VERSION }),
  }),
} satisfies Record<string, Call>;

export type BodyOf<C extends Call> = z.input<C['body']>;
export type AnswerOf<C extends Call> = z.output<C['answer']>;

/** A stream of server-sent events with the changes of records below a prefix. The data of each event are JSON. */
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

/** Most calls read one key, which a store may do in a cheaper way. */
async function textsUnder(keys: readonly string[], texts: TextCollection): Promise<[string, string][]> {
  const [key, ...others] = keys;
  if (key === undefined || others.length > 0) return [...(await texts.readMany(keys))];
  const text = await texts.read(key);
  return text === undefined ? [] : [[key, text]];
}

/** Turns of the event loop within which Node reports the end of a connection that it has received. */
const TURNS = 2;

/**
 * Offers hints again if their client disconnected meanwhile. The end of a client's poll and an offer that the client makes next may
 * arrive together, over two connections, and then the store gives the hint to that very poll. So this waits until Node would have
 * reported the end. The hint of a client that disconnects later is lost.
 *
 * @throws the signal's reason if the taker has gone
 */
async function expectTaker(gone: AbortSignal, queue: HintQueue, hints: readonly string[]): Promise<void> {
  if (hints.length === 0) return gone.throwIfAborted();
  for (let turn = 0; turn < TURNS; turn++) await new Promise<void>((next) => systemClock.nextTurn(next));
  if (!gone.aborted) return;
  await queue.offer(hints);
  throw gone.reason;
}
