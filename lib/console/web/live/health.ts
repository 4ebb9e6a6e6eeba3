import { computed } from '@preact/signals';
import { stalePart } from '../../../core/context/stale.js';
import type { Health } from '../api/answers.js';
import { pathOf } from '../api/call.js';
import type { StreamedEvent } from '../api/event-stream.js';
import { isUnreachable } from './connection.js';
import { LiveQuery } from './live-query.js';

/** Matches events of the node about its store and its clocks. */
const TELLING = /"type":"(store-lost|store-back|clock-suspect|alerts-undelivered)"/;

/** ms; with the timeout short enough to tell within 10 s that the node is frozen. */
const INTERVAL = 3500;
/** ms. A node whose store is silent answers within 5 s. */
const TIMEOUT = 5500;

/** Health of the answering node, for every page. An answer with status 503 has the same form. */
export const health = new LiveQuery<Health>(pathOf('health'), concernsHealth, INTERVAL, {
  otherStatus: 503,
  timeout: TIMEOUT,
});

function concernsHealth({ event, data }: StreamedEvent): boolean {
  return event === 'gatekeeper' && TELLING.test(data);
}

/**
 * State of this page. `offline`: no node answers. `down`: a node answers, and nothing is granted through it. `unknown`:
 * before the first answer.
 */
export const healthState = computed(() => {
  if (isUnreachable.value) return 'offline';
  return health.data.value?.status ?? 'unknown';
});

/** Whether the answering node can't read the semaphores, and shows them as it last knew them. */
export const isStale = computed(() => stalePart(health.data.value ?? {}, 'records') !== undefined);
