import { formatDuration } from '../../../operate/insight/format-duration.js';
import type { HistoryEntry, JobAnswer } from '../api/answers.js';
import { Fact } from '../parts/fact.js';
import { count } from '../parts/format.js';
import { SemaphoreLink } from '../parts/semaphore-link.js';
import { DateTime, Distance } from '../parts/time.js';
import { hrefOf } from '../parts/router.js';

interface RunFactsProps {
  readonly run: HistoryEntry;
  readonly past: JobAnswer['jobs'][number] | undefined;
}

/** The fields of a run, with links to what it belongs to. */
export function RunFacts({ run, past }: RunFactsProps) {
  const { semaphore, job, node, at } = run;
  return (
    <section class="panel" aria-labelledby="facts-title">
      <h2 id="facts-title">Run</h2>
      <dl class="definition facts run-facts">
        <Fact name="Work">
          <SemaphoreLink name={semaphore} />
        </Fact>
        <Fact name="Job">
          <a href={hrefOf(['runs'], { job })}>
            <code>{job}</code>
          </a>
        </Fact>
        <Fact name={run.kind === 'skip' ? 'Skipped' : 'Began'}>
          <DateTime at={at} />
          <span class="second">
            <Distance at={at} />
          </span>
        </Fact>
        <End run={run} past={past} />
        <Fact name="Node">
          <a href={hrefOf(['runs'], { node: node.instance })}>
            {node.group}/{node.acquirer}
          </a>
          <span class="second">{node.instance}</span>
        </Fact>
        {run.kind === 'skip' ? <Skip skip={run} /> : <PermitOf run={run} />}
        {run.kind === 'run' && run.attempts !== undefined && <Fact name="Attempts">{run.attempts}</Fact>}
      </dl>
    </section>
  );
}

/** The end, beside the usual duration. */
function End({ run, past }: RunFactsProps) {
  const { p50, p95 } = past?.week ?? {};
  const usual = p50 === undefined ? undefined : `usually ${formatDuration(p50)}, p95 ${formatDuration(p95 ?? p50)}`;
  if (run.kind === 'skip') return null;
  if (run.kind === 'running')
    return usual === undefined ? null : (
      <Fact name="Takes">
        {usual}
        <span class="second">last 7 days</span>
      </Fact>
    );
  if (run.took === undefined) return <Fact name="Ended">not known: its node has written no end</Fact>;
  return (
    <>
      <Fact name="Ended">
        <DateTime at={run.at + run.took} />
      </Fact>
      <Fact name="Took">
        {formatDuration(run.took)}
        {usual !== undefined && <span class="second">{usual}</span>}
      </Fact>
    </>
  );
}

function Skip({ skip: { reason, before } }: { readonly skip: Extract<HistoryEntry, { kind: 'skip' }> }) {
  return (
    <>
      <Fact name="Reason">{reason}</Fact>
      {before && (
        <Fact name="Before">
          skipped {count(before.count, 'time')}: {before.reason}
        </Fact>
      )}
    </>
  );
}

function PermitOf({ run }: { readonly run: Exclude<HistoryEntry, { kind: 'skip' }> }) {
  if (run.token === undefined) return <Fact name="Permit">without a permit</Fact>;
  return (
    <>
      <Fact name="Fencing token">
        <span class="number">{run.token}</span>
      </Fact>
      <Fact name="Slot">{run.slot}</Fact>
      {run.kind === 'run' && run.outcome !== 'crashed' && (
        <Fact name="Permit renewed">{run.renewals === undefined ? 'never' : count(run.renewals, 'time')}</Fact>
      )}
    </>
  );
}
