import type { Health } from '../api/answers.js';
import type { StreamedEvent } from '../api/event-stream.js';
import { LiveQuery, OFTEN } from './live-query.js';

/** Events of the node about its store and its clocks. */
const TELLING = /"type":"(store-lost|store-back|clock-suspect)"/;

/** Whether permits are granted, as the node that answers sees it; asked for on every page. 503 has the same answer. */
export const health = new LiveQuery<Health>('health', concernsHealth, OFTEN, { otherStatus: 503 });

function concernsHealth({ event, data }: StreamedEvent): boolean {
  return event === 'gatekeeper' && TELLING.test(data);
}
