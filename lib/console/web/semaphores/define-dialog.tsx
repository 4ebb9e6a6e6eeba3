import { useState } from 'preact/hooks';
import { call } from '../api/call.js';
import { DefinitionFields } from '../definition/definition-fields.js';
import { type DefinitionInput, FIELDS, inputToDefinition } from '../definition/definition-input.js';
import { PreviewPanel } from '../definition/preview-panel.js';
import { usePreview } from '../definition/use-preview.js';
import { ChangeForm } from '../forms/change-form.js';
import { useChange } from '../forms/use-change.js';
import { Dialog } from '../parts/dialog.js';
import { Field } from '../parts/field.js';
import { announce } from '../parts/notices.js';
import { goTo, hrefOf } from '../parts/router.js';

const EMPTY: DefinitionInput = { groupPattern: '.*', acquirerPattern: '.*', permits: '1', duration: '5m' };

/** The dialog to define a semaphore that no code declares. */
export function DefineDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [input, setInput] = useState(EMPTY);
  const change = useChange(async (reason) => {
    const body = { name, ...inputToDefinition(input), reason };
    await call('define', { body });
    goTo(hrefOf(['work', name]));
    announce(`“${name}” is defined.`);
  });
  const preview = usePreview({ name, input, refusal: change.error, isOn: name !== '' });
  return (
    <Dialog title="Define a semaphore" onClose={onClose}>
      <ChangeForm
        change={change}
        verb="Define"
        isReady={name !== '' && !preview.hasFaults}
        fields={['name', ...FIELDS]}
        onClose={onClose}
      >
        <Field label="Name" value={name} onValue={setName} faults={preview.faultsOf('name')} />
        <DefinitionFields input={input} onInput={setInput} faultsOf={preview.faultsOf} />
        <PreviewPanel preview={preview} />
      </ChangeForm>
    </Dialog>
  );
}
