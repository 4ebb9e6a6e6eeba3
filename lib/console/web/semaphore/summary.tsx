import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Explanation, Pause, SemaphoreOverview } from '../api/answers.js';
import { type Action, ActionDialog } from '../forms/action-dialog.js';
import { count } from '../parts/format.js';
import { Icon, type IconName } from '../parts/icon.js';
import { NotAllowed } from '../parts/page-state.js';
import { Expression, Schedule } from '../parts/schedule.js';
import { Distance } from '../parts/time.js';
import { ConditionBadges } from '../semaphores/condition-badges.js';
import { readOnlySentence, whyNot } from '../live/session.js';
import { RunNow } from './run-now.js';
import { canReset, pauseAction, removeAction, resetAction, resumeAction, unremovableSentence } from './actions.js';

interface SummaryProps {
  readonly semaphore: SemaphoreOverview;
  readonly explanation: Explanation;
  /** Names of the living nodes whose code defines it. */
  readonly definedBy: readonly string[];
  readonly onChange: () => Promise<void>;
}

/** Shows the semaphore's state with its reason, its jobs, and the actions. */
export function Summary({ semaphore, explanation, definedBy, onChange }: SummaryProps) {
  return (
    <section class="summary" aria-label="State">
      <ConditionBadges semaphore={semaphore} />
      {semaphore.problem !== undefined && <p class="panel bad">{semaphore.problem}</p>}
      {semaphore.pause && <Paused pause={semaphore.pause} />}
      {semaphore.warnings.map(({ sentence }) => (
        <p class="attention" key={sentence}>
          <Icon name="warning" /> {sentence}
        </p>
      ))}
      {!semaphore.pause && (
        <p class="explanation">
          Asked now, the node <strong>{explanation.node.acquirer}</strong> says: {explanation.sentence}.
        </p>
      )}
      <Jobs semaphore={semaphore} />
      <Next semaphore={semaphore} />
      <Actions semaphore={semaphore} definedBy={definedBy} onChange={onChange} />
    </section>
  );
}

function Paused({ pause: { by, at, reason } }: { readonly pause: Pause }) {
  return (
    <p class="panel warning">
      Paused by <strong>{by}</strong>, <Distance at={at} />
      {reason ? <>: “{reason}”</> : '.'}
    </p>
  );
}

function Jobs({ semaphore: { jobs, next } }: { readonly semaphore: SemaphoreOverview }) {
  if (jobs.length === 0) return null;
  // The next run of a single job stands below; while it is paused there is none.
  const isNextShown = next !== undefined && jobs.filter(({ schedule }) => schedule).length > 1;
  return (
    <ul class="jobs">
      {jobs.map(({ job, schedule, nodes }) => (
        <li key={job}>
          <code>{job}</code> on {count(nodes, 'node')}
          {schedule && (
            <>
              {' · '}
              {isNextShown ? <Schedule schedule={schedule} /> : <Expression {...schedule} />}
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** When the next run is due, as the list shows it. */
function Next({ semaphore: { jobs, next } }: { readonly semaphore: SemaphoreOverview }) {
  if (!jobs.some(({ schedule }) => schedule)) return null;
  return <p class="next">Next run: {next === undefined ? 'none' : <Distance at={next} />}</p>;
}

function Actions({ semaphore, definedBy, onChange }: Omit<SummaryProps, 'explanation'>) {
  const [action, setAction] = useState<Action>();
  const button = (icon: IconName, label: string, chosen: () => Action) => (
    <button type="button" onClick={() => setAction(chosen)}>
      <Icon name={icon} /> {label}
    </button>
  );
  const mayDefine = whyNot('define') === undefined;
  // No word about a role where there is no button. Only a console that changes nothing for all says so.
  if (whyNot('operate') !== undefined) return <NotAllowed reason={readOnlySentence()} />;
  return (
    <div class="buttons actions">
      {semaphore.definition && (
        <>
          {semaphore.jobs.length > 0 && <RunNow name={semaphore.name} onChange={onChange} />}
          {semaphore.pause
            ? button('play', 'Resume', () => resumeAction(semaphore, onChange))
            : button('pause', 'Pause', () => pauseAction(semaphore, onChange))}
        </>
      )}
      {mayDefine && canReset(semaphore) && button('undo', 'Reset to the code', () => resetAction(semaphore, onChange))}
      {mayDefine && semaphore.definition && (
        <Removal definedBy={definedBy}>{button('remove', 'Remove', () => removeAction(semaphore))}</Removal>
      )}
      {action && <ActionDialog action={action} onClose={() => setAction(undefined)} />}
    </div>
  );
}

/** The button to remove, or why there is none. */
function Removal({ definedBy, children }: Pick<SummaryProps, 'definedBy'> & { readonly children: ComponentChildren }) {
  const why = unremovableSentence(definedBy);
  return why === undefined ? <>{children}</> : <span class="in-place">{why}</span>;
}
