import { useEffect, useState } from 'preact/hooks';
import type { UndoPlan, UndoStep } from '../api/answers.js';
import { call } from '../api/call.js';
import { messageOf } from '../api/api-error.js';
import { DefinitionChanges } from '../definition/definition-changes.js';
import { ChangeForm } from '../forms/change-form.js';
import { useChange } from '../forms/use-change.js';
import { Dialog } from '../parts/dialog.js';
import { count } from '../parts/format.js';
import { announce } from '../parts/notices.js';
import { DateTime } from '../parts/time.js';
import type { LoggedChange } from './changes.js';

interface UndoDialogProps {
  readonly change: LoggedChange;
  readonly onClose: () => void;
}

/** Parts per call: the rate limit refuses a call with too many. */
const BATCH = 500;

/** Maximum number of rows. The others are counted. */
const MOST_SHOWN = 100;

/** Shows what an undo would change, and undoes it. If something is left alone, the dialog stays open and names it. */
export function UndoDialog({ change, onClose }: UndoDialogProps) {
  const { plan, error } = usePlan(change.undoId!);
  const [left, setLeft] = useState<readonly UndoStep[]>();
  const [entry] = change.parts;
  const undoing = useChange(async (reason) => {
    const { done, notDone } = await undoAll(change.undoId!, reason);
    if (notDone.length === 0) onClose();
    else setLeft(notDone);
    announce(done === 0 ? 'Nothing was undone.' : `${count(done, 'semaphore')} undone.`, { isBad: done === 0 });
  });
  const due = plan?.steps.filter(({ outcome }) => outcome === 'planned').length ?? 0;
  return (
    <Dialog title={`Undo: ${entry.action}`} onClose={onClose}>
      <p class="second">
        {entry.by}, <DateTime at={entry.at} />
        {entry.reason !== undefined && `: “${entry.reason}”`}
      </p>
      {error !== undefined && (
        <p class="fault" role="alert">
          {error}
        </p>
      )}
      {left ? (
        <>
          <p>Left alone, because it is not as this change left it:</p>
          <Steps steps={left} />
          <div class="buttons">
            <button type="button" onClick={onClose}>
              Close
            </button>
          </div>
        </>
      ) : (
        <ChangeForm
          change={undoing}
          verb={due > 1 ? `Undo ${due}` : 'Undo'}
          isDangerous={plan?.steps.some(({ revokes }) => revokes > 0) ?? false}
          isReady={due > 0}
          onClose={onClose}
        >
          {entry.action === 'follow' && due > 0 && (
            <p>The former definition stays until a reset, whatever the code says.</p>
          )}
          {plan ? <Planned plan={plan} due={due} /> : error === undefined && <p role="status">Loading…</p>}
        </ChangeForm>
      )}
    </Dialog>
  );
}

function usePlan(entry: string): { readonly plan?: UndoPlan; readonly error?: string } {
  const [state, setState] = useState<{ plan?: UndoPlan; error?: string }>({});
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    call('undo', { body: { entry } }, { signal }).then(
      (plan) => setState({ plan }),
      (error: unknown) => {
        if (!signal.aborted) setState({ error: messageOf(error) });
      },
    );
    return () => leaving.abort();
  }, [entry]);
  return state;
}

async function undoAll(entry: string, reason: string | undefined) {
  const notDone = new Map<string, UndoStep>();
  let done = 0;
  let bulk: string | undefined;
  for (;;) {
    const body = { entry, dryRun: false, limit: BATCH, ...(reason && { reason }), ...(bulk && { bulk }) };
    const plan = await call('undo', { body });
    const undone = plan.steps.filter(({ outcome }) => outcome === 'undone');
    for (const step of plan.steps) if (step.why !== undefined) notDone.set(step.name, step);
    for (const { name } of undone) notDone.delete(name);
    done += undone.length;
    ({ bulk } = plan);
    if (plan.remaining === 0 || undone.length === 0) return { done, notDone: [...notDone.values()] };
  }
}

function Planned({ plan: { steps, missing }, due }: { readonly plan: UndoPlan; readonly due: number }) {
  const left = steps.filter(({ outcome }) => outcome === 'left');
  return (
    <>
      <p>
        {due === 0
          ? 'There is nothing to undo.'
          : 'Puts back what was there before. It applies from the very next decision of every node.'}
      </p>
      {missing > 0 && (
        <p class="attention">The store has lost {count(missing, 'part')} of this change: these stay as they are.</p>
      )}
      <Steps steps={steps.filter(({ outcome }) => outcome !== 'left')} />
      {left.length > 0 && (
        <>
          <p>Stays as it is, because it has changed since:</p>
          <Steps steps={left} />
        </>
      )}
    </>
  );
}

function Steps({ steps }: { readonly steps: readonly UndoStep[] }) {
  if (steps.length === 0) return null;
  return (
    <ul class="undo-steps">
      {steps.slice(0, MOST_SHOWN).map((step) => (
        <li key={step.name}>
          <strong>{step.name}</strong> <StepText step={step} />
        </li>
      ))}
      {steps.length > MOST_SHOWN && <li>and {steps.length - MOST_SHOWN} more</li>}
    </ul>
  );
}

function StepText({ step: { outcome, why, from, to, isPaused, willBePaused, revokes } }: { readonly step: UndoStep }) {
  if (outcome === 'unchanged') return <>is as before already</>;
  if (why !== undefined) return <>{why}</>;
  if (!to) return <>{revokes > 0 ? `is removed, with ${count(revokes, 'held permit')}` : 'is removed'}</>;
  return (
    <>
      {isPaused !== willBePaused && (willBePaused ? 'is paused again' : 'is no longer paused')}
      <DefinitionChanges from={from} to={to} />
    </>
  );
}
