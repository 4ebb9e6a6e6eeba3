import { useEffect } from 'preact/hooks';
import type { HistoryEntry } from '../api/answers.js';
import { anyChangeOrRun } from '../live/concerns.js';
import { SELDOM } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { hasWords } from '../parts/has-words.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { ResultCount } from '../parts/result-count.js';
import { Search } from '../parts/search.js';
import { Views } from '../parts/views.js';
import { changeQuery, route } from '../parts/router.js';
import { PlanPage } from './plan-page.js';
import { TaskRunsPage } from '../tasks/task-runs-page.js';
import { useHasTasks } from '../parts/work-views.js';
import { HistoryTable } from '../semaphore/history-table.js';
import { MOST_RUNS, RunFilters, runsPath } from './run-filters.js';
import { keepFilters } from '../parts/run-place.js';

const VIEWS = [
  [['runs'], 'Jobs'],
  [['runs', 'next'], 'Next 24 hours'],
] as const;
const WITH_TASKS = [...VIEWS, [['runs', 'tasks'], 'Tasks']] as const;

/** The runs of all jobs, the runs to come, and the attempts of tasks, if the application has tasks. */
export function RunsPage({ view }: { readonly view: string | undefined }) {
  const hasTasks = useHasTasks();
  return (
    <>
      <Views label="Views of Runs" views={hasTasks || view === 'tasks' ? WITH_TASKS : VIEWS} />
      <View view={view} hasTasks={hasTasks} />
    </>
  );
}

function View({ view, hasTasks }: { readonly view: string | undefined; readonly hasTasks: boolean }) {
  if (view === 'tasks') return <TaskRunsPage />;
  return view === 'next' ? <PlanPage hasTasks={hasTasks} /> : <JobRuns />;
}

/** The runs of all jobs, newest first. The server filters them, and the search runs in the browser. */
function JobRuns() {
  const { query: given } = route.value;
  const query = useLive(runsPath(given), anyChangeOrRun, SELDOM);
  const search = given.get('search') ?? '';
  useEffect(() => keepFilters(given), [given]);
  return (
    <>
      <p class="lead">The last runs on all nodes. Of consecutive skips with one reason, only the first is listed.</p>
      <div class="toolbar">
        <Search
          label="Search work, job, node, error"
          value={search}
          onValue={(value) => changeQuery({ search: value })}
        />
        <RunFilters />
      </div>
      <Loaded query={query}>
        {({ entries }) => {
          const shown = entries.filter((entry) => matches(entry, search));
          return (
            <>
              <ResultCount shown={shown.length} all={entries.length} one="run" newest={MOST_RUNS} />
              <Entries entries={shown} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

function matches(entry: HistoryEntry, search: string): boolean {
  const { semaphore, job, node } = entry;
  return hasWords([semaphore, job, node.acquirer, node.group, detailOf(entry)], search);
}

function detailOf(entry: HistoryEntry): string | undefined {
  if (entry.kind === 'running') return undefined;
  return entry.kind === 'run' ? entry.message : entry.reason;
}

function Entries({ entries }: { readonly entries: readonly HistoryEntry[] }) {
  if (entries.length === 0) return <Empty>{route.value.query.size === 0 ? 'No runs yet.' : 'Nothing matches.'}</Empty>;
  return (
    <section class="panel filling" aria-label="Runs of all jobs">
      <HistoryTable runs={entries} isOfAll />
    </section>
  );
}
