import type { HealthFaultCode } from './health-answers.js';

/** Each fault in a few words, which fit one line of a phone and name nothing. Its sentence says the rest. */
export const FAULT_TITLES: Readonly<Record<HealthFaultCode, string>> = {
  closing: 'this node shuts down',
  'store-unreachable': "the store can't be reached",
  'no-quorum': 'the store lacks members',
  'store-silent': 'the store does not answer',
  'store-failing': 'the store fails',
  'clock-unread': "the clocks can't be read",
  'clock-suspect': "clocks can't be trusted",
  'records-unread': "the semaphores can't be read",
  'nodes-unread': "the list of nodes can't be read",
  'runs-unread': "the runs can't be read",
  'audit-unread': "the audit log can't be read",
  'shards-unread': "names on demand can't be read",
  recovering: 'the store has lost data',
  'semaphores-removed': 'semaphores of the code are gone',
  'code-not-followed': 'definitions differ from the code',
  'tasks-failing': 'tasks fail',
  'entries-unreadable': "entries can't be read",
  'archive-failing': 'the archive of definitions fails',
  'run-archive-failing': 'the archive of runs fails',
  'no-leader': 'a scope has no leader',
  'resources-unowned': 'resources have no owner',
  'allocation-failing': 'allocation has a problem',
  'alerts-undelivered': 'alerts are not delivered',
  'other-application': 'two applications share names',
};
