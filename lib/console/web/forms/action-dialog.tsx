import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from '../parts/dialog.js';
import { Field } from '../parts/field.js';
import { announce } from '../parts/notices.js';
import { ChangeForm } from './change-form.js';
import { useChange } from './use-change.js';

/** A dialog that changes the cluster after a confirmation with a reason. */
export interface Action {
  readonly title: string;
  readonly explanation: ComponentChildren;
  readonly verb: string;
  readonly isDangerous?: boolean;
  /** The user must type this text before the button works. */
  readonly confirmation?: string;
  /** @returns the result as a sentence, unless the page shows it itself */
  readonly run: (reason: string | undefined) => Promise<string | undefined>;
}

export function ActionDialog({ action, onClose }: { readonly action: Action; readonly onClose: () => void }) {
  const { title, explanation, verb, isDangerous = false, confirmation } = action;
  const [typed, setTyped] = useState('');
  const change = useChange(async (reason) => {
    const result = await action.run(reason);
    // Screen readers skip everything behind an open dialog.
    onClose();
    if (result !== undefined) announce(result);
  });
  const isReady = confirmation === undefined || typed === confirmation;
  return (
    <Dialog title={title} onClose={onClose}>
      <ChangeForm change={change} verb={verb} isDangerous={isDangerous} isReady={isReady} onClose={onClose}>
        <p>{explanation}</p>
        {confirmation !== undefined && (
          <Field label={`Type the name to confirm: ${confirmation}`} value={typed} onValue={setTyped} />
        )}
      </ChangeForm>
    </Dialog>
  );
}
