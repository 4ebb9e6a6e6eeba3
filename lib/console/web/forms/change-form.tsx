import type { ComponentChildren } from 'preact';
import { Field } from '../parts/field.js';
import { type Conflict, ConflictNotice, conflictIn } from './conflict-notice.js';
import { faultsAt, faultsIn, sentenceOf } from './faults.js';
import type { Change } from './use-change.js';

interface ChangeFormProps {
  readonly change: Change;
  /** Label of the submit button. */
  readonly verb: string;
  readonly isDangerous?: boolean;
  /** Whether the input is complete and has no known fault. Default true. */
  readonly isReady?: boolean;
  /** Names of the fields among the children that show their own faults. */
  readonly fields?: readonly string[];
  /** A conflict that is known before the form is sent. */
  readonly conflict?: Conflict | undefined;
  readonly onReload?: () => void;
  readonly onClose: () => void;
  /** Name of the form for screen readers; absent in a dialog, which has a title. */
  readonly label?: string;
  readonly children: ComponentChildren;
}

/** The form of every change: the fields, the reason, a conflict, faults, and two buttons. */
export function ChangeForm({
  change,
  verb,
  isReady = true,
  fields = [],
  onReload,
  onClose,
  ...props
}: ChangeFormProps) {
  const { error, isBusy, reason, setReason } = change;
  const conflict = conflictIn(error) ?? props.conflict;
  return (
    <form onSubmit={change.onSubmit} aria-label={props.label} aria-busy={isBusy}>
      {conflict && <ConflictNotice conflict={conflict} onReload={onReload} />}
      {props.children}
      <Field
        label="Reason (every user sees it)"
        value={reason}
        onValue={setReason}
        faults={faultsAt('reason', faultsIn(error))}
        input={{ maxLength: 1000 }}
      />
      <p class="fault" role="alert">
        {conflictIn(error) ? undefined : sentenceOf(error, [...fields, 'reason'])}
      </p>
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="submit"
          class={props.isDangerous ? 'primary danger' : 'primary'}
          disabled={!isReady || isBusy || conflict !== undefined}
        >
          {isBusy ? 'Working…' : verb}
        </button>
      </div>
    </form>
  );
}
