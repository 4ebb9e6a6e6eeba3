import { type FollowedList, followed } from '../../lists/followed-list.js';
import type { SemaphorePartsAnswer } from '../api/answers.js';
import { pathOf } from '../api/call.js';
import type { LiveOptions } from '../live/live-query.js';

/** For a query that shows all semaphores. */
export const FOLLOW_LIST: LiveOptions<SemaphorePartsAnswer, FollowedList> = {
  changes: {
    pathAfter: (shown) => pathOf('semaphoreParts', { query: { known: shown?.known } }),
    merged: followed,
  },
};
