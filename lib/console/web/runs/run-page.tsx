import type { AuditAnswer, HistoryEntry, JobAnswer } from '../api/answers.js';
import { pathOf } from '../api/call.js';
import { AuditProblem } from '../audit/audit-problem.js';
import { clusterTime } from '../live/cluster-time.js';
import { concerning } from '../live/concerns.js';
import { SELDOM } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { Breadcrumb } from '../parts/breadcrumb.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { SemaphoreLink } from '../parts/semaphore-link.js';
import { Later, Story } from '../parts/story.js';
import { DateTime } from '../parts/time.js';
import { Unread } from '../parts/unread.js';
import { HistoryTable, RunState } from '../semaphore/history-table.js';
import { Unheard } from '../parts/unheard.js';
import { signIn } from '../live/session.js';
import { logLink } from './log-link.js';
import { RunFacts } from './run-facts.js';
import { type RunPlace, isAt, runsHref } from '../parts/run-place.js';
import { sentenceOf, storyOf } from './run-story.js';

type JobPast = JobAnswer['jobs'][number];

/** One run: how it began, kept its permit and ended, its error with the stack, and the other runs of its job. */
export function RunPage({ place }: { readonly place: RunPlace }) {
  const { semaphore, job, instance, at } = place;
  // The runs that went on at that time on that node.
  const found = { semaphore, job, node: instance, since: at, until: at, limit: 10 };
  const concerns = concerning(semaphore);
  const query = useLive(pathOf('history', { query: found }), concerns, SELDOM);
  const jobs = useLive(pathOf('semaphoreJobs', { params: { name: semaphore } }), concerns, SELDOM);
  return (
    <>
      <Breadcrumb
        above={[<a href={runsHref()}>Runs</a>, <SemaphoreLink name={semaphore} />, <code>{job}</code>]}
        here={<DateTime at={at} />}
      />
      <Unread query={jobs}>
        The past of the job can’t be read now, so its other runs and the stack of an error are missing.
      </Unread>
      <Loaded query={query}>
        {({ entries }) => {
          const run = entries.find((entry) => isAt(entry, place));
          const past = jobs.data.value?.jobs.find((each) => each.job === job);
          return run ? <Run run={run} past={past} /> : <Empty>{UNKNOWN}</Empty>;
        }}
      </Loaded>
    </>
  );
}

const UNKNOWN =
  'This run is no longer known. The last 10,000 runs of all jobs are kept, and of each job its last 20 runs and 10 failures.';

interface RunProps {
  readonly run: HistoryEntry;
  /** The past of its job; absent while it is not loaded. */
  readonly past: JobPast | undefined;
}

function Run({ run, past }: RunProps) {
  const others = past?.runs.filter((other) => other.at !== run.at || other.node.instance !== run.node.instance) ?? [];
  return (
    <>
      <section class="summary" aria-label="State">
        <span class="badges">
          <RunState entry={run} />
        </span>
        <p class="explanation">{sentenceOf(run)}</p>
        <LogLink run={run} />
      </section>
      <RunError run={run} past={past} />
      <div class="columns">
        {run.kind !== 'skip' && <StoryPanel run={run} />}
        <RunFacts run={run} past={past} />
      </div>
      {others.length > 0 && (
        <section class="panel" aria-labelledby="others-title">
          <h2 id="others-title">Other runs of this job</h2>
          <HistoryTable runs={others} />
        </section>
      )}
    </>
  );
}

/** The message of the error, and its stack, if the past of the job still has it. */
function RunError({ run, past }: RunProps) {
  if (run.kind !== 'run' || run.message === undefined) return null;
  const stack = past?.failures.find(({ at, node }) => at === run.at && node.instance === run.node.instance)?.stack;
  return (
    <section class="panel" aria-labelledby="error-title">
      <h2 id="error-title">Error</h2>
      <p class="fault">{run.message}</p>
      {stack !== undefined && (
        <pre class="value" role="group" tabIndex={0} aria-label="Stack of the error">
          {stack}
        </pre>
      )}
    </section>
  );
}

type Ran = Exclude<HistoryEntry, { kind: 'skip' }>;

function StoryPanel({ run }: { readonly run: Ran }) {
  const { semaphore } = run;
  const audit = useLive(pathOf('audit', { query: { semaphore } }), concerning(semaphore), SELDOM);
  return (
    <section class="panel" aria-labelledby="story-title">
      <h2 id="story-title">Story</h2>
      <AuditProblem audit={audit} />
      {run.kind === 'running' && run.token !== undefined ? (
        <StoryWithPermit run={run} changes={audit.data.value?.entries ?? []} />
      ) : (
        <Story entries={storyOf(run, audit.data.value?.entries ?? [], undefined, clusterTime.value)} />
      )}
    </section>
  );
}

interface StoryWithPermitProps {
  readonly run: Ran;
  readonly changes: AuditAnswer['entries'];
}

/** The story of a run that goes on: the record of its semaphore tells when its permit was renewed. */
function StoryWithPermit({ run, changes }: StoryWithPermitProps) {
  const { semaphore: name } = run;
  const query = useLive(pathOf('semaphore', { params: { name } }), concerning(name), SELDOM);
  const permit = query.data.value?.semaphore.holders.find(({ token }) => token === run.token);
  return (
    <Story entries={storyOf(run, changes, permit, clusterTime.value)}>
      {permit && <Later title="its permit ends, unless it is renewed" at={permit.expiresAt} />}
      {permit?.isUnheard && (
        <li class="bad">
          <Unheard />
        </li>
      )}
    </Story>
  );
}

function LogLink({ run }: { readonly run: HistoryEntry }) {
  const template = signIn.value.state === 'in' ? signIn.value.session.logsUrl : undefined;
  const href = template === undefined ? undefined : logLink(template, run, clusterTime.peek());
  if (href === undefined) return null;
  return (
    <p>
      <a href={href} target="_blank" rel="noopener noreferrer">
        Logs of this run
      </a>
    </p>
  );
}
