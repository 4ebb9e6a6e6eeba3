import { useState } from 'preact/hooks';
import { call } from '../api/call.js';
import { DefinitionFields } from '../definition/definition-fields.js';
import { type DefinitionInput, FIELDS, inputToDefinition } from '../definition/definition-input.js';
import { PreviewPanel } from '../definition/preview-panel.js';
import { usePreview } from '../definition/use-preview.js';
import { ChangeForm } from '../forms/change-form.js';
import { useChange } from '../forms/use-change.js';
import { Dialog } from '../parts/dialog.js';
import { announce } from '../parts/notices.js';

interface LimitDialogProps {
  readonly type: string;
  readonly onChange: () => Promise<void>;
  readonly onClose: () => void;
}

/** With the most permits it limits nothing, but the type can be paused and confined. */
const WIDE: DefinitionInput = { groupPattern: '.*', acquirerPattern: '.*', permits: '1000', duration: '1m' };

/** The dialog to define the limit of a type. */
export function LimitDialog({ type, onChange, onClose }: LimitDialogProps) {
  const [input, setInput] = useState(WIDE);
  const name = `task:${type}`;
  const change = useChange(async (reason) => {
    const body = { name, ...inputToDefinition(input), reason };
    await call('define', { body });
    await onChange();
    onClose();
    announce(`The limit of ${type} is defined.`);
  });
  const preview = usePreview({ name, input, refusal: change.error, isOn: true });
  return (
    <Dialog title={`Define a limit of ${type}`} onClose={onClose}>
      <ChangeForm change={change} verb="Define" isReady={!preview.hasFaults} fields={FIELDS} onClose={onClose}>
        <p>Permits are the attempts at the same time in the whole cluster. 1000, the most, limits nothing.</p>
        <DefinitionFields input={input} onInput={setInput} faultsOf={preview.faultsOf} />
        <PreviewPanel preview={preview} />
      </ChangeForm>
    </Dialog>
  );
}
