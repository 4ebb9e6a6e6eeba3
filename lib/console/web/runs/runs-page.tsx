import type { HistoryAnswer, HistoryEntry, RunEntry } from '../api/answers.js';
import { anyChangeOrRun } from '../live/concerns.js';
import { SELDOM } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { hasWords } from '../parts/has-words.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { ResultCount } from '../parts/result-count.js';
import { Search } from '../parts/search.js';
import { Views } from '../parts/views.js';
import { replaceQuery, route } from '../router.js';
import { PlanPage } from './plan-page.js';
import { RunningPage } from '../tasks/running-page.js';
import { useHasTasks } from '../tasks/work-views.js';
import { HistoryTable } from '../semaphore/history-table.js';

/** Number of loaded entries. The search runs in the browser, over these. */
const MOST = 500;

const FAILURES: ReadonlySet<RunEntry['outcome']> = new Set(['failed', 'crashed']);

const FILTERS = {
  ok: { label: 'Ended well', has: (entry: HistoryEntry) => entry.kind === 'run' && entry.outcome === 'ok' },
  running: { label: 'Running', has: (entry: HistoryEntry) => entry.kind === 'running' },
  failed: {
    label: 'Failed or crashed',
    has: (entry: HistoryEntry) => entry.kind === 'run' && FAILURES.has(entry.outcome),
  },
  lost: { label: 'Lost its permit', has: (entry: HistoryEntry) => entry.kind === 'run' && entry.outcome === 'lost' },
  skipped: { label: 'Skipped', has: (entry: HistoryEntry) => entry.kind === 'skip' },
} as const;

type FilterName = keyof typeof FILTERS;
const NAMES = Object.keys(FILTERS) as FilterName[];

const VIEWS = [
  [['runs'], 'Jobs'],
  [['runs', 'next'], 'Next 24 hours'],
] as const;
const WITH_TASKS = [...VIEWS, [['runs', 'tasks'], 'Running tasks']] as const;

/** The runs of all jobs, the runs to come, and the tasks that run, if the application has tasks. */
export function RunsPage({ view }: { readonly view: string | undefined }) {
  const hasTasks = useHasTasks();
  return (
    <>
      <Views label="Views of Runs" views={hasTasks || view === 'tasks' ? WITH_TASKS : VIEWS} />
      <View view={view} />
    </>
  );
}

function View({ view }: { readonly view: string | undefined }) {
  if (view === 'tasks') return <RunningPage />;
  return view === 'next' ? <PlanPage /> : <JobRuns />;
}

/** The runs of all jobs, newest first. */
function JobRuns() {
  const query = useLive<HistoryAnswer>(`history?limit=${MOST}`, anyChangeOrRun, SELDOM);
  const search = route.value.query.get('search') ?? '';
  const chosen = NAMES.find((name) => name === route.value.query.get('show'));
  return (
    <>
      <p class="lead">The last runs on all nodes. Of consecutive skips with one reason, only the first is listed.</p>
      <Loaded query={query}>
        {({ entries }) => {
          const found = entries.filter((entry) => matches(entry, search));
          const shown = chosen ? found.filter(FILTERS[chosen].has) : found;
          return (
            <>
              <div class="toolbar">
                <Search
                  label="Search work, job, node, error"
                  value={search}
                  onValue={(value) => replaceQuery({ search: value, show: chosen })}
                />
                <Filters found={found} chosen={chosen} onChoose={(show) => replaceQuery({ search, show })} />
              </div>
              <ResultCount shown={shown.length} all={entries.length} one="run" />
              <Entries entries={shown} all={entries.length} />
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

interface FiltersProps {
  readonly found: readonly HistoryEntry[];
  readonly chosen: FilterName | undefined;
  readonly onChoose: (filter: FilterName | undefined) => void;
}

function Filters({ found, chosen, onChoose }: FiltersProps) {
  return (
    <div class="filters" role="group" aria-label="Show">
      <button type="button" aria-pressed={chosen === undefined} onClick={() => onChoose(undefined)}>
        All <span class="number">{found.length}</span>
      </button>
      {NAMES.map((name) => (
        <button type="button" key={name} aria-pressed={chosen === name} onClick={() => onChoose(name)}>
          {FILTERS[name].label} <span class="number">{found.filter(FILTERS[name].has).length}</span>
        </button>
      ))}
    </div>
  );
}

function Entries({ entries, all }: { readonly entries: readonly HistoryEntry[]; readonly all: number }) {
  if (entries.length === 0) return <Empty>{all === 0 ? 'No runs yet.' : 'Nothing matches.'}</Empty>;
  return (
    <section class="panel filling" aria-label="Runs of all jobs">
      <HistoryTable runs={entries} isOfAll />
    </section>
  );
}
