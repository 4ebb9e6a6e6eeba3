import {
  InvalidOptionsError,
  type SemaphoreRecord,
  costFault,
  decodeRecord,
  encodeRecord,
  intendedDefinition,
  isBehind,
  patternFaults,
  quoted,
  restore,
  rewrite,
} from '../decision/index.js';
import { KEY_PREFIX } from '../decision/record.js';
import type { Context } from '../context/context.js';
import type { Plan, Step } from './plan.js';
import type { RecordCodec, RecordListener } from './record-codec.js';
import { RecordClient } from './record-client.js';

/** The client of one semaphore's record. */
export type SemaphoreClient = RecordClient<SemaphoreRecord>;
export type SemaphorePlan<T> = Plan<SemaphoreRecord, T>;
export type SemaphoreStep<T> = Step<SemaphoreRecord, T>;

/** Definition and permits of a semaphore, in one record. */
const SEMAPHORE: RecordCodec<SemaphoreRecord> = {
  kind: 'semaphore',
  keyPrefix: KEY_PREFIX,
  decode: decodeRecord,
  encode: encodeRecord,
  isBehind,
  restore,
  rewrite: (record, view, nonce) => rewrite(record, {}, view, nonce),
  leases: ({ permits, grace }) => (grace ? [...permits, grace] : permits),
};

/** A client that reports what becomes of its record as events of the gatekeeper. */
export function semaphoreClient(name: string, context: Context): SemaphoreClient {
  const client = new RecordClient(name, SEMAPHORE, context);
  client.listen(reporting(name, context));
  return client;
}

function reporting(semaphore: string, { events, news }: Context): RecordListener<SemaphoreRecord> {
  return {
    changed({ record, former }) {
      if (former?.nonce !== record.nonce) news.next(semaphore);
      if (former?.revision === record.revision) return;
      reportCostlyPatterns(semaphore, record, events);
      const { revision, change } = record;
      if (former) events.next({ type: 'changed', semaphore, revision, ...(change && { change }) });
    },
    restored: ({ revision }) => events.next({ type: 'restored', semaphore, revision }),
    unreadable: (error) => events.next({ type: 'record-unreadable', semaphore, error }),
  };
}

/** Reports stored patterns that cost too much, once per revision. Compiles none: a node reads every record. */
function reportCostlyPatterns(semaphore: string, record: SemaphoreRecord, events: Context['events']): void {
  const definition = intendedDefinition(record);
  const faults = definition ? patternFaults(definition, costFault) : [];
  if (faults.length === 0) return;
  const error = new InvalidOptionsError(`the definition of semaphore ${quoted(semaphore)}`, faults);
  events.next({ type: 'problem', semaphore, action: 'check its patterns', error });
}
