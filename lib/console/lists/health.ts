import type { Health, RequestResult } from '../../gatekeeper/index.js';
import { formatDuration } from '../../operate/insight/format-duration.js';
import type { AlertsTest } from '../api/alerts.js';
import type { Columns } from './column.js';
import { timeText } from './texts.js';

/** Faults of a node. */
export const FAULT_COLUMNS = {
  fault: { title: 'Fault', value: ({ code }) => code },
  since: {
    title: 'Since',
    value: ({ since }) => since,
    kind: 'time',
    text: ({ since }, now) => `${timeText(since)} (${formatDuration(now - since)} ago)`,
  },
  sentence: { title: 'What is wrong', value: ({ sentence }) => sentence },
} satisfies Columns<Health['faults'][number]>;

/** Warnings of a node. */
export const WARNING_COLUMNS = {
  warning: { title: 'Warning', value: ({ code }) => code },
  semaphore: { title: 'Semaphore', value: ({ semaphore }) => semaphore },
  noticed: { title: 'Noticed', value: ({ since }) => since, kind: 'time' },
  sentence: { title: 'What is wrong', value: ({ sentence }) => sentence },
} satisfies Columns<NonNullable<Health['warnings']>[number]>;

/** Kinds of calls to the store. */
export const CALL_COLUMNS = {
  calls: { title: 'Calls', value: ({ part }) => part },
  failing: { title: 'Failing since', value: ({ failingSince }) => failingSince, kind: 'time' },
  answered: { title: 'Last answered', value: ({ answeredAt = 'never' }) => answeredAt, kind: 'time' },
} satisfies Columns<Health['parts'][number]>;

/** Receivers of alerts. */
export const RECEIVER_COLUMNS = {
  receiver: { title: 'Receiver of alerts', value: ({ name }) => name },
  waiting: { title: 'Waiting', value: ({ waiting }) => waiting },
  last: {
    title: 'Last request',
    value: ({ last }) => (last ? `${timeText(last.at)}: ${resultText(last)}` : 'none yet'),
  },
} satisfies Columns<NonNullable<Health['alerts']>[number]>;

/** Receivers of alerts that were tested. */
export const TEST_COLUMNS = {
  receiver: { title: 'Receiver', value: ({ name }) => name },
  result: { title: 'Result', value: resultText },
} satisfies Columns<AlertsTest['results'][number]>;

/** How a receiver of alerts answered, and how fast. */
function resultText({ status, problem, took }: RequestResult): string {
  return `${problem ?? `accepted (${status})`}, ${formatDuration(took)}`;
}
