import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { messageOf } from '../api/api-error.js';
import { Dialog } from './dialog.js';
import { Field } from './field.js';

/** Something that is done to the cluster, once its doer has confirmed it and said why. */
export interface Action {
  readonly title: string;
  readonly explanation: ComponentChildren;
  readonly verb: string;
  readonly isDangerous?: boolean;
  /** To be typed before it can be done. */
  readonly confirmation?: string;
  readonly run: (reason: string | undefined) => Promise<void>;
}

export function ActionDialog({ action, onClose }: { readonly action: Action; readonly onClose: () => void }) {
  const [reason, setReason] = useState('');
  const [typed, setTyped] = useState('');
  const [fault, setFault] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { confirmation } = action;
  const isConfirmed = confirmation === undefined || typed === confirmation;
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!isConfirmed || isBusy) return;
    setBusy(true);
    try {
      await action.run(reason.trim() || undefined);
      onClose();
    } catch (error) {
      setFault(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={action.title} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{action.explanation}</p>
        <Field label="Reason (shown to everybody)" value={reason} onValue={setReason} input={{ maxLength: 1000 }} />
        {confirmation !== undefined && (
          <Field label={`Type the name to confirm: ${confirmation}`} value={typed} onValue={setTyped} />
        )}
        <p class="fault" role="alert">
          {fault}
        </p>
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            class={action.isDangerous ? 'primary danger' : 'primary'}
            disabled={!isConfirmed || isBusy}
          >
            {isBusy ? 'Working…' : action.verb}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
