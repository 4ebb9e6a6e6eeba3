import { z } from 'zod';
import {
  type View,
  decodeStored,
  lacksWrites,
  nameSchema,
  show,
  storedCount,
  storedList,
  storedText,
  storedTime,
} from '../../decision/index.js';
import { named } from '../../decision/answer-values.js';
import type { NodeIdentity } from '../../context/node-identity.js';
import type { RecordCodec, StoredRecord } from '../../cell/record-codec.js';

/**
 * A request to run a job now:
 *
 * | state   | fields                              | next                                                        |
 * | ------- | ----------------------------------- | ----------------------------------------------------------- |
 * | asked   | none of the following               | a node under a permit takes it; else it expires, or is given up |
 * | given up| `isGivenUp`                         | none: a reader found it expired, and no node can take it now |
 * | taken   | `node`, `token`, `startedAt`        | the run ends. If the node dies, the request stays taken: a request is run at most once |
 * | ended   | and `outcome`, `took`               | none                                                        |
 */
export interface RunRequest extends Readonly<z.output<typeof requestSchema>> {}

/** `lost`: the permit ended before the run did. */
export type RunOutcome = 'ok' | 'failed' | 'lost';

/** The end of a run. */
export type RunRequestEnd = Required<Pick<RunRequest, 'outcome' | 'took'>> & Pick<RunRequest, 'message'>;

/**
 * The latest requests of one semaphore, oldest first:
 *
 *     { "v": 1, "nonce": "3w5e.1f", "seq": 3, "at": 1790000000000,
 *       "requests": [{ "id": "3w5e.1d", "job": "Jobs.export", "by": "ann", "at": 1789999990000,
 *                      "expiresAt": 1790000050000 }] }
 */
export interface RunRequestsRecord extends StoredRecord {
  readonly v: typeof VERSION;
  readonly requests: readonly RunRequest[];
}

const VERSION = 1;
/** Requests that a record keeps. Older ones are only in the history and in the audit log. */
const MOST_REQUESTS = 10;
/** ms for which a request waits for a node. */
export const REQUEST_LIFETIME = 60_000;

const nodeSchema = named<NodeIdentity>(
  z.strictObject({ group: storedText, acquirer: storedText, instance: storedText }),
);

const requestSchema = z.strictObject({
  id: storedText,
  job: nameSchema,
  /** The person or program that asked. */
  by: storedText,
  reason: storedText.optional(),
  /** Cluster time in ms. */
  at: storedTime,
  /** Cluster time in ms after which no node takes it. */
  expiresAt: storedTime,
  isGivenUp: z.literal(true).optional(),
  /** The node that took it. */
  node: nodeSchema.optional(),
  /** Fencing token of the permit under which the node took it. */
  token: storedCount.optional(),
  /** Cluster time in ms. */
  startedAt: storedTime.optional(),
  outcome: named<RunOutcome>(z.enum(['ok', 'failed', 'lost'])).optional(),
  /** ms */
  took: storedTime.optional(),
  /** Message of the error with which the run failed. */
  message: storedText.optional(),
});

const recordSchema = z.strictObject({
  v: z.literal(VERSION),
  nonce: z.string().min(1),
  seq: storedCount,
  at: storedTime,
  requests: storedList(requestSchema, MOST_REQUESTS),
});

/**
 * The storage format, and the rule for lost data: a request that looks free may have been taken before the store lost
 * that, so it is dropped. It is better not to run than to run twice.
 */
export const RUN_REQUESTS: RecordCodec<RunRequestsRecord> = {
  kind: 'run requests of semaphore',
  keyPrefix: 'run-request:',
  decode: (name, text) => decodeStored(recordSchema, VERSION, `the run requests of semaphore ${show(name)}`, text),
  encode: (record) => JSON.stringify(record),
  isBehind: lacksWrites,
  restore: (known, found, view, nonce) => {
    const seq = Math.max(known.seq, found?.seq ?? 0);
    const taken = known.requests.filter(({ node }) => node !== undefined);
    return nextRecord({ ...known, seq }, taken, view, nonce);
  },
  rewrite: (record, view, nonce) => nextRecord(record, record.requests, view, nonce),
  leases: () => [],
};

/** The record with other requests. Only the last {@link MOST_REQUESTS} stay, those that ended or expired go first. */
export function nextRecord(
  record: RunRequestsRecord | undefined,
  requests: readonly RunRequest[],
  view: View,
  nonce: string,
): RunRequestsRecord {
  const kept = bounded(requests, view.now);
  return { v: VERSION, nonce, seq: (record?.seq ?? 0) + 1, at: view.now, requests: kept };
}

/** Whether a node may still take a request. @param now cluster time in ms */
export function isOpen({ node, isGivenUp, expiresAt }: RunRequest, now: number): boolean {
  return node === undefined && isGivenUp === undefined && now < expiresAt;
}

/** Whether a request can change no more. */
export function isOver(request: RunRequest, now: number): boolean {
  return request.outcome !== undefined || (request.node === undefined && !isOpen(request, now));
}

/** The requests with another version of one of them. */
export function withRequest(requests: readonly RunRequest[], changed: RunRequest): RunRequest[] {
  return requests.map((request) => (request.id === changed.id ? changed : request));
}

function bounded(requests: readonly RunRequest[], now: number): readonly RunRequest[] {
  let surplus = requests.length - MOST_REQUESTS;
  if (surplus <= 0) return requests;
  const kept = requests.filter((request) => !(isOver(request, now) && surplus-- > 0));
  return kept.slice(-MOST_REQUESTS);
}
