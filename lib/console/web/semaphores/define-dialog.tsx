import { useState } from 'preact/hooks';
import type { DefinitionState } from '../api/answers.js';
import { messageOf } from '../api/api-error.js';
import { call } from '../api/call.js';
import { type DefinitionInput, inputToDefinition } from '../definition/definition-input.js';
import { DefinitionFields } from '../definition/definition-fields.js';
import { usePreview } from '../definition/use-preview.js';
import { PreviewPanel } from '../definition/preview-panel.js';
import { Dialog } from '../parts/dialog.js';
import { Field } from '../parts/field.js';
import { announce } from '../parts/notices.js';
import { goTo, hrefOf } from '../router.js';

const EMPTY: DefinitionInput = { groupPattern: '.*', acquirerPattern: '.*', permits: '1', duration: '5m' };

/** Defines a semaphore that no code brings along. */
export function DefineDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [input, setInput] = useState(EMPTY);
  const [reason, setReason] = useState('');
  const [fault, setFault] = useState<string>();
  const preview = usePreview(name, input, name !== '');
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await call<DefinitionState>('semaphores', {
        method: 'POST',
        body: { name, ...inputToDefinition(input), reason: reason.trim() || undefined },
      });
      announce(`“${name}” is defined.`);
      goTo(hrefOf(['semaphores', name]));
    } catch (error) {
      setFault(messageOf(error));
    }
  };
  return (
    <Dialog title="Define a semaphore" onClose={onClose}>
      <form onSubmit={submit}>
        <Field label="Name" value={name} onValue={setName} faults={preview.faultsOf('name')} />
        <DefinitionFields input={input} onInput={setInput} faultsOf={preview.faultsOf} />
        <PreviewPanel preview={preview} />
        <Field label="Reason (shown to everybody)" value={reason} onValue={setReason} input={{ maxLength: 1000 }} />
        <p class="fault" role="alert">
          {fault}
        </p>
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={name === '' || preview.hasFaults}>
            Define
          </button>
        </div>
      </form>
    </Dialog>
  );
}
