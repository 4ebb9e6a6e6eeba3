import type { ComponentChildren } from 'preact';
import type { ListedState, TasksAnswer } from '../api/answers.js';
import { type Path, pathOf } from '../api/call.js';
import { anyChange } from '../live/concerns.js';
import { useLive } from '../live/use-live.js';
import type { LiveQuery } from '../live/live-query.js';
import { count } from '../parts/format.js';
import { Icon } from '../parts/icon.js';
import { Loaded } from '../parts/page-state.js';
import { hrefOf, route } from '../parts/router.js';

/** Tasks of one page. */
const PAGE = 50;

interface TaskPagesProps {
  readonly state: ListedState;
  /** Default: all types. */
  readonly type?: string | undefined;
  /** Shows the tasks of the page. */
  readonly children: (answer: TasksAnswer, query: LiveQuery<TasksAnswer>) => ComponentChildren;
}

/** The order of the tasks in the store, if it is not that of time. */
const ORDERS: Partial<Record<ListedState, string>> = { waiting: 'type and priority' };

/** A list of tasks, page by page. The page is part of the address: `from` is where it begins. */
export function TaskPages({ state, type, children }: TaskPagesProps) {
  const from = route.value.query.get('from') ?? undefined;
  const path = pathOf('tasks', { query: { state, type, from, limit: PAGE } });
  return <Page key={path} path={path} order={ORDERS[state] ?? 'time'} children={children} />;
}

interface PageProps extends Pick<TaskPagesProps, 'children'> {
  readonly path: Path<TasksAnswer>;
  readonly order: string;
}

function Page({ path, order, children }: PageProps) {
  const query = useLive(path, anyChange);
  return (
    <Loaded query={query}>
      {(answer) => (
        <>
          {answer.leftOut > 0 && (
            <p class="attention">
              <Icon name="warning" /> {count(answer.leftOut, 'task')} can’t be read by this node, and{' '}
              {answer.leftOut === 1 ? 'is' : 'are'} left out: of a newer version, or of another program.
            </p>
          )}
          {children(answer, query)}
          {answer.tasks.length > 0 && (
            <p class="second">In the order of {order}. A list that is read page by page can’t be sorted otherwise.</p>
          )}
          <Pager next={answer.next} />
        </>
      )}
    </Loaded>
  );
}

/** Links, so that the browser's "back" goes to the page before. */
function Pager({ next }: Pick<TasksAnswer, 'next'>) {
  const { path, query } = route.value;
  const others = Object.fromEntries(query);
  if (next === undefined && others['from'] === undefined) return null;
  return (
    <nav class="pager" aria-label="Pages of the list">
      {others['from'] !== undefined && <a href={hrefOf(path, { ...others, from: undefined })}>First page</a>}
      {next !== undefined && <a href={hrefOf(path, { ...others, from: next })}>Next page</a>}
    </nav>
  );
}

/** Why a page is empty. One that reads its most may be empty although more follow. */
export function emptyPage({ next }: Pick<TasksAnswer, 'next'>, none: string): string {
  return next === undefined ? none : 'None among the tasks that this page has read: more follow on the next page.';
}
