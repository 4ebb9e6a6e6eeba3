import { useState } from 'preact/hooks';
import type { MigrationPlan, MigrationStep } from '../api/answers.js';
import { call } from '../api/call.js';
import { type Action, ActionDialog } from '../forms/action-dialog.js';
import { sentenceOf } from '../forms/faults.js';
import { useSubmit } from '../forms/use-submit.js';
import { count } from '../parts/format.js';
import { Empty, NotAllowed } from '../parts/page-state.js';
import { BatchProgress } from '../batches/batch-progress.js';
import { BATCH, type Batch, announceProgress, useBatches } from '../batches/use-batches.js';
import { whyNot } from '../live/session.js';
import { MigrationFields } from './migration-fields.js';
import { EMPTY_MIGRATION, type MigrationInput, isComplete, migrationBody } from './migration-input.js';
import { StepTable } from './step-table.js';

/** Moves work to other nodes: select definitions, choose the target, check the plan, and only then migrate. */
export function MigratePage() {
  const [input, setInput] = useState(EMPTY_MIGRATION);
  const [plan, setPlan] = useState<MigrationPlan>();
  const [action, setAction] = useState<Action>();
  const { progress, run, stop, clear } = useBatches();
  const notAllowed = whyNot('operate');
  /** New input makes the plan invalid. */
  const change = (next: MigrationInput) => {
    setInput(next);
    setPlan(undefined);
    clear();
  };
  const planning = useSubmit(async () => {
    clear();
    setPlan(undefined);
    const body = migrationBody(input, { dryRun: true });
    setPlan(await call('migrate', { body }));
  });
  const apply = async (reason: string | undefined) => {
    const body = migrationBody(input, { dryRun: false, limit: BATCH, reason });
    let bulk: string | undefined;
    const ended = await run(async (signal) => {
      const batch = { ...body, ...(bulk && { bulk }) };
      const migrated = await call('migrate', { body: batch }, { signal });
      ({ bulk } = migrated);
      return batchOf(migrated);
    });
    announceProgress(ended, 'migrated');
    setPlan(undefined);
  };
  const confirm = ({ steps, remaining }: MigrationPlan): Action => ({
    title: `Migrate ${count(steps.length + remaining, 'semaphore')}`,
    explanation:
      'The change applies from the very next decision of every node. Runs that have started may finish where they are.',
    verb: 'Migrate',
    ...(runNowhere(steps) && confirmationOf(steps)),
    // Not awaited: the page shows the progress, and an open dialog would hide it.
    run: (reason) => Promise.resolve(void apply(reason)),
  });
  return (
    <>
      <p class="lead">Moves work to other nodes by changing the patterns of many semaphores, in small batches.</p>
      <NotAllowed reason={notAllowed} />
      <form class="panel" onSubmit={planning.onSubmit} aria-label="Migration">
        <MigrationFields input={input} onInput={change} isDisabled={notAllowed !== undefined} />
        <p class="fault" role="alert">
          {sentenceOf(planning.error, [])}
        </p>
        {notAllowed === undefined && (
          <div class="buttons">
            <button
              type="submit"
              class={plan ? '' : 'primary'}
              disabled={!isComplete(input) || planning.isBusy || (progress?.isRunning ?? false)}
            >
              {planning.isBusy ? 'Planning…' : 'Dry run'}
            </button>
          </div>
        )}
      </form>
      {progress && <BatchProgress progress={progress} verb="migrated" onStop={stop} />}
      {plan && <Plan plan={plan} onApply={() => setAction(confirm(plan))} />}
      {action && <ActionDialog action={action} onClose={() => setAction(undefined)} />}
    </>
  );
}

function Plan({ plan, onApply }: { readonly plan: MigrationPlan; readonly onApply: () => void }) {
  const { steps, remaining, unreadable } = plan;
  const dead = steps.filter(({ candidateCount }) => candidateCount === 0).length;
  if (steps.length + unreadable.length === 0) {
    return <Empty>Nothing would change: all matching semaphores have these patterns.</Empty>;
  }
  return (
    <section class="panel" aria-labelledby="plan-title">
      <h2 id="plan-title">
        What would happen <span class="second number">{count(steps.length + remaining, 'semaphore')}</span>
      </h2>
      {dead > 0 && (
        <p class="attention" role="alert">
          {dead === steps.length
            ? 'No living node matches: none of these would run anywhere.'
            : `${count(dead, 'semaphore')} of these would not run: no living node matches.`}
        </p>
      )}
      {unreadable.map(({ name, error }) => (
        <p key={name} class="attention">
          {name} would stay as it is: {error}
        </p>
      ))}
      {steps.length > 0 && (
        <>
          <StepTable steps={steps} />
          <div class="buttons">
            <button type="button" class={runNowhere(steps) ? '' : 'primary'} onClick={onApply}>
              Apply…
            </button>
          </div>
        </>
      )}
    </section>
  );
}

/** Whether no living node could run any of these afterwards. */
function runNowhere(steps: readonly MigrationStep[]): boolean {
  return steps.every(({ candidateCount }) => candidateCount === 0);
}

/** The user types what will not run: the name of a single semaphore, or the number of them. */
function confirmationOf(steps: readonly MigrationStep[]): Partial<Action> {
  const [only] = steps;
  return {
    isDangerous: true,
    confirmation: steps.length === 1 ? only!.name : count(steps.length, 'semaphore'),
    confirmationLabel: 'No living node matches. Type what will not run',
  };
}

function batchOf({ steps, remaining, unreadable }: MigrationPlan): Batch {
  const failed = steps.filter(({ outcome }) => outcome === 'failed');
  return {
    done: steps.filter(({ outcome }) => outcome === 'migrated').map(({ name }) => name),
    failed: [...unreadable, ...failed.map(({ name, error = 'no reason given' }) => ({ name, error }))],
    remaining,
  };
}
