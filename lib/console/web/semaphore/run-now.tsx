import { useEffect, useMemo, useState } from 'preact/hooks';
import type { RunNowStatus, RunnableNow } from '../api/answers.js';
import { messageOf } from '../api/api-error.js';
import { call, pathOf } from '../api/call.js';
import { ChangeForm } from '../forms/change-form.js';
import { useChange } from '../forms/use-change.js';
import { concerning } from '../live/concerns.js';
import { SELDOM } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { Dialog } from '../parts/dialog.js';
import { Icon } from '../parts/icon.js';

interface RunNowProps {
  readonly name: string;
  readonly onChange: () => Promise<void>;
}

/** The button that runs a job of the semaphore now, with its dialog and the state of the last request. */
export function RunNow({ name, onChange }: RunNowProps) {
  const concerns = useMemo(() => concerning(name), [name]);
  const query = useLive(pathOf('runPlan', { params: { name } }), concerns, SELDOM);
  const [isAsking, setAsking] = useState(false);
  const [asked, setAsked] = useState<RunNowStatus>();
  const plan = query.data.value;
  if (!plan || plan.jobs.length === 0) return null;
  const possible = plan.jobs.filter(({ obstacle }) => obstacle === undefined);
  return (
    <>
      <button type="button" disabled={possible.length === 0} onClick={() => setAsking(true)}>
        <Icon name="play" /> Run now
      </button>
      {possible.length === 0 && <p class="not-allowed run-request">It can’t be run now: {plan.jobs[0]!.obstacle}.</p>}
      {asked && <Followed key={asked.id} asked={asked} onEnd={onChange} />}
      {isAsking && possible.length > 0 && (
        <RunDialog
          name={name}
          jobs={possible}
          holders={plan.holders}
          onAsked={setAsked}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

interface RunDialogProps {
  readonly name: string;
  readonly jobs: readonly RunnableNow[];
  readonly holders: readonly string[];
  readonly onAsked: (status: RunNowStatus) => void;
  readonly onClose: () => void;
}

function RunDialog({ name, jobs, holders, onAsked, onClose }: RunDialogProps) {
  const [chosen, setChosen] = useState(jobs[0]!.job);
  const job = jobs.find((each) => each.job === chosen) ?? jobs[0]!;
  const change = useChange(async (reason) => {
    const status = await call('runNow', { params: { name }, body: { job: job.job, reason } });
    onClose();
    onAsked(status);
  });
  return (
    <Dialog title={`Run ${name} now`} onClose={onClose}>
      <ChangeForm change={change} verb="Run now" onClose={onClose}>
        {jobs.length > 1 && (
          <div class="field">
            <label for="run-now-job">Job</label>
            <select id="run-now-job" value={job.job} onChange={(event) => setChosen(event.currentTarget.value)}>
              {jobs.map((each) => (
                <option key={each.job}>{each.job}</option>
              ))}
            </select>
          </div>
        )}
        <p>
          Runs <code>{job.job}</code> once, under the permit: {whereOf(job, holders)}
        </p>
      </ChangeForm>
    </Dialog>
  );
}

function whereOf({ nodes }: RunnableNow, holders: readonly string[]): string {
  const names = nodes.map(({ acquirer }) => acquirer);
  const some = names.length > MOST_NAMED ? `${names.slice(0, MOST_NAMED).join(', ')} and others` : names.join(', ');
  const where = names.length === 1 ? `on ${some}.` : `on the first of these nodes that gets a permit: ${some}.`;
  return holders.length === 0 ? where : `${where} ${holders.join(', ')} has a permit now.`;
}

const MOST_NAMED = 5;

/** Follows a request until its end. */
function Followed({ asked, onEnd }: { readonly asked: RunNowStatus; readonly onEnd: () => Promise<void> }) {
  const [status, setStatus] = useState(asked);
  const [fault, setFault] = useState<string>();
  useEffect(() => {
    const ending = new AbortController();
    follow(asked, setStatus, ending.signal).then(
      () => void (ending.signal.aborted || onEnd()),
      (error: unknown) => void (ending.signal.aborted || setFault(messageOf(error))),
    );
    return () => ending.abort();
  }, [asked.id]);
  return (
    <p class="run-request" role="status">
      {fault ?? `${status.sentence}.`}
    </p>
  );
}

/** ms; longer than the console's own answers take when the store is slow, and short enough that a change shows soon. */
const WAIT = 10_000;

async function follow(asked: RunNowStatus, show: (status: RunNowStatus) => void, signal: AbortSignal): Promise<void> {
  const params = { name: asked.semaphore, id: asked.id };
  // The first look is short: the run has usually begun by then.
  for (let wait = 500; !signal.aborted; wait = WAIT) {
    const status = await call('runStatus', { params, query: { wait } }, { signal });
    show(status);
    if (status.state !== 'asked' && status.state !== 'running') return;
  }
}
