import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from '../parts/dialog.js';
import { Field } from '../parts/field.js';
import { announce } from '../parts/notices.js';
import { ChangeForm } from './change-form.js';
import { useChange } from './use-change.js';

/** A change of the cluster that the user confirms in a dialog, with a reason. */
export interface Action {
  readonly title: string;
  readonly explanation: ComponentChildren;
  readonly verb: string;
  readonly isDangerous?: boolean;
  /** Text that the user must type to enable the button. Default: none. */
  readonly confirmation?: string;
  /** Label of the field for it. Default: it is a name. */
  readonly confirmationLabel?: string;
  /** Makes the change. @returns the result as a sentence; undefined if the page shows it itself */
  readonly run: (reason: string | undefined) => Promise<string | undefined>;
}

export function ActionDialog({ action, onClose }: { readonly action: Action; readonly onClose: () => void }) {
  const {
    title,
    explanation,
    verb,
    isDangerous = false,
    confirmation,
    confirmationLabel = 'Type the name to confirm',
  } = action;
  const [typed, setTyped] = useState('');
  const change = useChange(async (reason) => {
    const result = await action.run(reason);
    // The dialog closes first, because screen readers skip everything behind an open dialog.
    onClose();
    if (result !== undefined) announce(result);
  });
  const isReady = confirmation === undefined || typed === confirmation;
  return (
    <Dialog title={title} onClose={onClose}>
      <ChangeForm change={change} verb={verb} isDangerous={isDangerous} isReady={isReady} onClose={onClose}>
        <p>{explanation}</p>
        {confirmation !== undefined && (
          <Field label={`${confirmationLabel}: ${confirmation}`} value={typed} onValue={setTyped} />
        )}
      </ChangeForm>
    </Dialog>
  );
}
