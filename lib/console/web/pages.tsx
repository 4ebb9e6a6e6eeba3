import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { AuditPage } from './audit/audit-page.js';
import { HealthPage } from './health/health-page.js';
import { LeaderPage } from './leader/leader-page.js';
import { isUnreachable } from './live/connection.js';
import { isStale } from './live/health.js';
import { pageTitle } from './live/tab.js';
import { NodesPage } from './nodes/nodes-page.js';
import { OperatePage } from './operate/operate-page.js';
import { hrefOf, route } from './parts/router.js';
import { RunPage } from './runs/run-page.js';
import { ONE_RUN, placeOf } from './parts/run-place.js';
import { RunsPage } from './runs/runs-page.js';
import { SemaphorePage } from './semaphore/semaphore-page.js';
import { isLeader, isQueue, scopeOf, taskTypeOf } from './semaphores/kind.js';
import { SemaphoresPage } from './semaphores/semaphores-page.js';
import { GroupPage } from './tasks/group-page.js';
import { GroupsPage } from './tasks/groups-page.js';
import { SchedulesPage } from './tasks/schedules-page.js';
import { TaskPage } from './tasks/task-page.js';
import { TypePage } from './tasks/type-page.js';
import { TypesPage } from './tasks/types-page.js';

/** Its facts about the store are current even if those of the other pages are old. */
const HEALTH = 'Health';

/** Shows the page that the address names. */
export function Page() {
  const [page = 'work', name, part] = route.value.path;
  switch (page) {
    case 'work':
      if (name === undefined) return <Main key="work" title="Work" children={<SemaphoresPage />} />;
      if (part !== undefined && isQueue(name)) return <TaskGroup name={name} group={part} />;
      return <Main key={`work ${name}`} title={titleOf(name)} children={<WorkPage name={name} />} />;
    case 'tasks':
      return <Main key={`tasks ${name}`} title="Work" children={<TaskViews view={name} />} />;
    case 'runs':
      if (name === ONE_RUN) return <OneRun path={route.value.path} />;
      // The id of a task has a colon or a bracket.
      if (!name || name === 'tasks' || name === 'next')
        return <Main key={`runs ${name}`} title="Runs" children={<RunsPage view={name} />} />;
      return <Main key={`runs ${name}`} title={`Task ${name}`} children={<TaskPage id={name} />} />;
    case 'nodes':
      return <Main key={`nodes ${name}`} title="Nodes" children={<NodesPage view={name} />} />;
    case 'changes':
      return <Main key="changes" title="Changes" children={<AuditPage />} />;
    case 'operate':
      return <Main key={`operate ${name}`} title="Operate" children={<OperatePage view={name} />} />;
    case 'health':
      return <Main key="health" title={HEALTH} children={<HealthPage />} />;
    default:
      return <Main key="unknown" title="No such page" children={<Nowhere />} />;
  }
}

function TaskGroup({ name, group }: { readonly name: string; readonly group: string }) {
  const type = taskTypeOf(name);
  const page = <GroupPage type={type} group={group} />;
  return <Main key={`group ${name} ${group}`} title={`Group ${type}[${group}]`} children={page} />;
}

function OneRun({ path }: { readonly path: readonly string[] }) {
  const place = placeOf(path);
  if (!place) return <Main key="unknown" title="No such page" children={<Nowhere />} />;
  return <Main key={path.join('/')} title={`Run of ${place.job}`} children={<RunPage place={place} />} />;
}

function TaskViews({ view }: { readonly view: string | undefined }) {
  if (view === 'groups') return <GroupsPage />;
  return view === 'schedules' ? <SchedulesPage /> : <TypesPage />;
}

function titleOf(name: string): string {
  if (isQueue(name)) return `Tasks: ${taskTypeOf(name)}`;
  return isLeader(name) ? `Leadership: ${scopeOf(name)}` : name;
}

/** The page of a scope of leadership, of a type of tasks, or of any other semaphore. */
function WorkPage({ name }: { readonly name: string }) {
  if (isQueue(name)) return <TypePage name={name} />;
  return isLeader(name) ? <LeaderPage name={name} /> : <SemaphorePage name={name} />;
}

function Nowhere() {
  return (
    <p>
      This console has no such page. <a href={hrefOf(['work'])}>To the work</a>
    </p>
  );
}

let isFirstPage = true;

/** Moves the focus to the heading of a new page, so that a screen reader reads it. */
function Main({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    pageTitle.value = `${title} · Gatekeeper`;
    if (!isFirstPage) {
      heading.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    isFirstPage = false;
  }, []);
  return (
    <main class={isUnreachable.value || (isStale.value && title !== HEALTH) ? 'stale' : undefined}>
      <h1 tabIndex={-1} ref={heading}>
        {title}
      </h1>
      {children}
    </main>
  );
}
