import type { Health } from '../api/answers.js';
import type { StreamedEvent } from '../api/event-stream.js';
import { LiveQuery, OFTEN } from './live-query.js';

/** Matches events of the node about its store and its clocks. */
const TELLING = /"type":"(store-lost|store-back|clock-suspect)"/;

/** Health of the answering node, for every page. An answer with status 503 has the same form. */
export const health = new LiveQuery<Health>('health', concernsHealth, OFTEN, { otherStatus: 503 });

function concernsHealth({ event, data }: StreamedEvent): boolean {
  return event === 'gatekeeper' && TELLING.test(data);
}
