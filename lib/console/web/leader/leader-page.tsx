import { useMemo, useState } from 'preact/hooks';
import type { LeaderAnswer, SemaphoreAnswer } from '../api/answers.js';
import { pathOf } from '../api/call.js';
import { AuditTable } from '../audit/audit-table.js';
import { type Action, ActionDialog } from '../forms/action-dialog.js';
import { concerning } from '../live/concerns.js';
import { useLive } from '../live/use-live.js';
import { Badge } from '../parts/badge.js';
import { Icon } from '../parts/icon.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { Countdown, Distance } from '../parts/time.js';
import { DefinitionPanel } from '../semaphore/definition-panel.js';
import { HistoryTable } from '../semaphore/history-table.js';
import { canReset, pauseAction, resetAction, resumeAction } from '../semaphore/actions.js';
import { scopeOf } from '../semaphores/kind.js';
import { listHref } from '../semaphores/list-place.js';
import { whyNot } from '../live/session.js';
import { CandidatesPanel } from './candidates-panel.js';
import { stepDownAction } from './leader-actions.js';
import { TermsPanel } from './terms-panel.js';

/** The page of a scope of leadership. @param name of its semaphore */
export function LeaderPage({ name }: { readonly name: string }) {
  const concerns = useMemo(() => concerning(name), [name]);
  const leader = useLive(pathOf('leader', { params: { scope: scopeOf(name) } }), concerns);
  const semaphore = useLive(pathOf('semaphore', { params: { name } }), concerns);
  const reload = async () => void (await Promise.all([leader.load(), semaphore.load()]));
  return (
    <>
      <a class="back" href={listHref()}>
        <Icon name="back" /> All work
      </a>
      <Loaded query={leader}>
        {(details) => (
          <>
            <Summary details={details} semaphore={semaphore.data.value} onChange={reload} />
            <div class="columns">
              <CandidatesPanel details={details} onChange={reload} />
              {semaphore.data.value && <DefinitionPanel semaphore={semaphore.data.value.semaphore} onChange={reload} />}
            </div>
            <TermsPanel terms={details.terms} />
            <Loaded query={semaphore}>{({ runs, audit }) => <Journals runs={runs} audit={audit} />}</Loaded>
          </>
        )}
      </Loaded>
    </>
  );
}

function Journals({ runs, audit }: Pick<SemaphoreAnswer, 'runs' | 'audit'>) {
  return (
    <>
      <section class="panel" aria-labelledby="history-title">
        <h2 id="history-title">Runs of the leader</h2>
        {runs ? <HistoryTable runs={runs} /> : <Empty>The runs can’t be read now.</Empty>}
      </section>
      <section class="panel" aria-labelledby="audit-title">
        <h2 id="audit-title">Changes</h2>
        {audit ? <AuditTable entries={audit} isOfOne /> : <Empty>The changes can’t be read now.</Empty>}
      </section>
    </>
  );
}

interface SummaryProps {
  readonly details: LeaderAnswer;
  /** Undefined until it is loaded. */
  readonly semaphore: SemaphoreAnswer | undefined;
  readonly onChange: () => Promise<void>;
}

/** Shows who leads, since when, and the actions. */
function Summary({ details, semaphore, onChange }: SummaryProps) {
  const { leader, pause, fault, problem } = details.scope;
  return (
    <section class="summary" aria-label="State">
      <span class="badges">
        <Badge tone={leader ? 'accent' : 'bad'}>{leader ? 'led' : 'no leader'}</Badge>
        {pause && <Badge tone="warning">paused</Badge>}
      </span>
      {problem !== undefined && <p class="panel bad">{problem}</p>}
      {fault && (
        <p class="panel bad" role="alert">
          <strong>No leader</strong> since <Distance at={fault.since} />: {fault.sentence}.
        </p>
      )}
      {pause && (
        <p class="panel warning">
          Paused by <strong>{pause.by}</strong>, <Distance at={pause.at} />
          {pause.reason ? <>: “{pause.reason}”</> : '.'}
        </p>
      )}
      <Leader scope={details.scope} />
      <Actions details={details} semaphore={semaphore} onChange={onChange} />
    </section>
  );
}

function Leader({ scope: { leader, term, since, expiresAt, keptFor } }: Pick<LeaderAnswer, 'scope'>) {
  return (
    <>
      {leader ? (
        <p class="explanation leads">
          <strong>{leader.acquirer}</strong> ({leader.group}) leads. Its term began <Distance at={since!} />, with the
          token <span class="number">{term}</span>. Its permit lasts <Countdown until={expiresAt!} /> unless it is
          refreshed.
        </p>
      ) : (
        <p class="explanation">No node leads this scope now.</p>
      )}
      {keptFor && (
        <p class="attention">
          <Icon name="warning" /> A handover is under way; until it ends, only{' '}
          {keptFor.isExcluded ? 'the other nodes' : 'one node'} can lead.
        </p>
      )}
    </>
  );
}

function Actions({ details, semaphore, onChange }: SummaryProps) {
  const [action, setAction] = useState<Action>();
  if (whyNot('operate') !== undefined) return null;
  const of = semaphore?.semaphore;
  return (
    <div class="buttons actions">
      <button
        type="button"
        disabled={details.scope.leader === undefined}
        onClick={() => setAction(() => stepDownAction(details, onChange))}
      >
        <Icon name="leave" /> Step down…
      </button>
      {of?.definition && (
        <button
          type="button"
          onClick={() => setAction(() => (of.pause ? resumeAction(of, onChange) : pauseAction(of, onChange)))}
        >
          <Icon name={of.pause ? 'play' : 'pause'} /> {of.pause ? 'Resume' : 'Pause'}
        </button>
      )}
      {of && canReset(of) && whyNot('define') === undefined && (
        <button type="button" onClick={() => setAction(() => resetAction(of, onChange))}>
          <Icon name="undo" /> Reset to the code
        </button>
      )}
      {action && <ActionDialog action={action} onClose={() => setAction(undefined)} />}
    </div>
  );
}
