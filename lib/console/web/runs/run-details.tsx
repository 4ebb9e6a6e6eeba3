import type { ComponentChildren } from 'preact';
import type { HistoryEntry, JobAnswer } from '../api/answers.js';
import { formatDuration } from '../../../insight/format-duration.js';
import { clusterTime } from '../live/cluster-time.js';
import { concerning } from '../live/concerns.js';
import { SELDOM } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { Dialog } from '../parts/dialog.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { SemaphoreLink } from '../parts/semaphore-link.js';
import { DateTime, Distance } from '../parts/time.js';
import { RunState } from '../semaphore/history-table.js';
import { signIn } from '../session.js';
import { logLink } from './log-link.js';
import { type RunPlace, isAt } from './run-place.js';

interface RunDetailsProps {
  readonly place: RunPlace;
  /** The run as the list has it, if it does. */
  readonly entry: HistoryEntry | undefined;
  readonly onClose: () => void;
}

/** Shows one run: how it began and ended, its error with the stack, its permit, and a link to its logs. */
export function RunDetails({ place, entry, onClose }: RunDetailsProps) {
  const query = useLive<JobAnswer>(
    `semaphores/${encodeURIComponent(place.semaphore)}/jobs`,
    concerning(place.semaphore),
    SELDOM,
  );
  return (
    <Dialog title={`Run of ${place.job}`} onClose={onClose}>
      <Loaded query={query}>
        {({ jobs }) => {
          const past = jobs.find(({ job }) => job === place.job);
          const failure = past?.failures.find((run) => isAt(run, place));
          const known = [...(past?.runs ?? []), ...(past?.running ?? [])].find((run) => isAt(run, place));
          const run = failure ?? entry ?? known;
          return run ? <Facts run={run} stack={failure?.stack} /> : <Empty>This run is no longer known.</Empty>;
        }}
      </Loaded>
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function Facts({ run, stack }: { readonly run: HistoryEntry; readonly stack: string | undefined }) {
  const { semaphore, node, at } = run;
  return (
    <>
      <p>
        <RunState entry={run} />
      </p>
      {run.kind === 'run' && run.message !== undefined && <p class="panel bad run-error">{run.message}</p>}
      {stack !== undefined && (
        <pre class="stack" tabIndex={0} aria-label="Stack of the error">
          {stack}
        </pre>
      )}
      <dl class="definition facts">
        <Fact name="Began">
          <DateTime at={at} />
          <span class="second">
            <Distance at={at} />
          </span>
        </Fact>
        <End run={run} />
        <Fact name="Node">
          {node.group}/{node.acquirer}
          <span class="second">{node.instance}</span>
        </Fact>
        <Fact name="Work">
          <SemaphoreLink name={semaphore} />
        </Fact>
        {run.kind === 'skip' ? (
          <Fact name="Reason">{run.reason}</Fact>
        ) : (
          <Fact name="Fencing token">
            {run.token === undefined ? 'without a permit' : `${run.token}, slot ${run.slot}`}
          </Fact>
        )}
      </dl>
      <LogLink run={run} />
    </>
  );
}

function End({ run }: { readonly run: HistoryEntry }) {
  if (run.kind !== 'run') return null;
  const { at, took, outcome, until } = run;
  return (
    <>
      {took !== undefined && (
        <Fact name="Ended">
          <DateTime at={at + took} />
          <span class="second">after {formatDuration(took)}</span>
        </Fact>
      )}
      {outcome === 'crashed' && <Fact name="Ended">its node no longer lives, and has written no end</Fact>}
      {until !== undefined && (
        <Fact name="Permit until">
          <DateTime at={until} />
        </Fact>
      )}
    </>
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

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
