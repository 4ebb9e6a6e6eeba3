import { pathOf } from '../api/call.js';
import { anyChange, nothing } from '../live/concerns.js';
import { RARELY } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { Views } from './views.js';

const VIEWS = [
  [['work'], 'All work'],
  [['tasks'], 'Task types'],
  [['tasks', 'groups'], 'Groups'],
  [['tasks', 'schedules'], 'Task schedules'],
] as const;

/** Whether the application has tasks. Asks nothing of the store if no node uses them. */
export function useHasTasks(): boolean {
  const types = useTypes(true);
  const { waiting = [], nodes = [] } = types.data.value ?? {};
  return waiting.length + nodes.length > 0;
}

/** The views of the work; only "All work" exists, and nothing is shown, if the application has no tasks. */
export function WorkViews({ isOfTasks = false }: { readonly isOfTasks?: boolean }) {
  const hasTasks = useHasTasks();
  if (!isOfTasks && !hasTasks) return null;
  return <Views label="Views of Work" views={VIEWS} />;
}

/** The types of tasks. @param ifUsed whether nothing is asked of the store if no node uses tasks */
export function useTypes(ifUsed = false) {
  const [query, concerns, interval] = ifUsed
    ? ([{ ifUsed: 'true' }, nothing, RARELY] as const)
    : ([{}, anyChange, OF_TYPES] as const);
  return useLive(pathOf('taskTypes', { query }), concerns, interval);
}

/** ms between two looks of a page about types. */
const OF_TYPES = 5000;
