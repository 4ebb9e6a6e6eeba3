import { useEffect, useRef, useState } from 'preact/hooks';
import type { SemaphoreDefinition, SemaphoreOverview } from '../api/answers.js';
import { DefinitionFields } from '../definition/definition-fields.js';
import type { FieldName } from '../definition/definition-input.js';
import { PreviewPanel } from '../definition/preview-panel.js';
import { usePreview } from '../definition/use-preview.js';
import { Field } from '../parts/field.js';
import { announce } from '../parts/notices.js';
import { Distance } from '../parts/time.js';
import { type Conflict, useEdit } from './use-edit.js';

interface EditFormProps {
  readonly semaphore: SemaphoreOverview;
  readonly inForce: SemaphoreDefinition;
  readonly onChange: () => Promise<void>;
  readonly onClose: () => void;
}

export function EditForm({ semaphore, inForce, onChange, onClose }: EditFormProps) {
  const { input, setInput, base, changed, conflict, fault, submit, reload } = useEdit(semaphore, inForce);
  const [reason, setReason] = useState('');
  const preview = usePreview(semaphore.name, input);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector('input')?.focus(), []);
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    if (!(await submit(reason))) return;
    announce(`“${semaphore.name}” is changed, for the very next decision of every node.`);
    onClose();
    await onChange();
  };
  const inForceNote = (field: FieldName) =>
    changed.includes(field) && (
      <>
        {' · '}
        <button type="button" class="link" onClick={() => setInput({ ...input, [field]: base.input[field] })}>
          in force: <code>{base.input[field]}</code>
        </button>
      </>
    );
  return (
    <form onSubmit={onSubmit} ref={form} aria-label="Edit the definition">
      {conflict && <ConflictPanel conflict={conflict} onReload={reload} />}
      <DefinitionFields input={input} onInput={setInput} faultsOf={preview.faultsOf} note={inForceNote} />
      <PreviewPanel preview={preview} />
      <Field label="Reason (shown to everybody)" value={reason} onValue={setReason} input={{ maxLength: 1000 }} />
      <p class="fault" role="alert">
        {fault}
      </p>
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="submit"
          class="primary"
          disabled={changed.length === 0 || preview.hasFaults || conflict !== undefined}
        >
          Put into force
        </button>
      </div>
    </form>
  );
}

/** Somebody was faster: who, when and why; nothing of the operator's own input is gone. */
function ConflictPanel({ conflict: { change }, onReload }: { conflict: Conflict; onReload: () => Promise<void> }) {
  return (
    <div class="panel warning conflict" role="alert">
      <p>
        {change ? (
          <>
            <strong>{change.by}</strong> changed this meanwhile ({change.kind}, <Distance at={change.at} />)
            {change.reason ? `: “${change.reason}”.` : '.'}
          </>
        ) : (
          'Somebody changed this meanwhile.'
        )}{' '}
        Nothing of yours was written, and nothing you typed is gone.
      </p>
      <button type="button" onClick={() => void onReload()}>
        Show what is in force now, keep my input
      </button>
    </div>
  );
}
