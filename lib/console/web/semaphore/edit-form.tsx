import { useLayoutEffect, useRef } from 'preact/hooks';
import type { SemaphoreDefinition, SemaphoreOverview } from '../api/answers.js';
import { DefinitionFields } from '../definition/definition-fields.js';
import { FIELDS, type FieldName } from '../definition/definition-input.js';
import { PreviewPanel } from '../definition/preview-panel.js';
import { usePreview } from '../definition/use-preview.js';
import { ChangeForm } from '../forms/change-form.js';
import { useChange } from '../forms/use-change.js';
import { announce } from '../parts/notices.js';
import { useEdit } from './use-edit.js';

interface EditFormProps {
  readonly semaphore: SemaphoreOverview;
  readonly inForce: SemaphoreDefinition;
  readonly onChange: () => Promise<void>;
  readonly onClose: () => void;
}

export function EditForm({ semaphore, inForce, onChange, onClose }: EditFormProps) {
  const { input, setInput, base, changed, outrun, submit, reload } = useEdit(semaphore, inForce);
  const change = useChange(async (reason) => {
    await submit(reason);
    onClose();
    announce(`“${semaphore.name}” is changed, for the very next decision of every node.`);
    await onChange();
  });
  const preview = usePreview({ name: semaphore.name, input, refusal: change.error });
  const place = useRef<HTMLDivElement>(null);
  const focusFirst = () => place.current?.querySelector('input')?.focus();
  useLayoutEffect(focusFirst, []);
  const inForceNote = (field: FieldName) =>
    changed.includes(field) && (
      <button type="button" class="link" onClick={() => setInput({ ...input, [field]: base.input[field] })}>
        back to <code>{base.input[field]}</code>
      </button>
    );
  return (
    <div ref={place} onKeyDown={(event) => event.key === 'Escape' && onClose()}>
      <ChangeForm
        label="Edit the definition"
        change={change}
        verb="Put into force"
        isReady={changed.length > 0 && !preview.hasFaults}
        fields={FIELDS}
        conflict={outrun}
        onReload={() => void change.attempt(reload).then(focusFirst)}
        onClose={onClose}
      >
        <DefinitionFields input={input} onInput={setInput} faultsOf={preview.faultsOf} note={inForceNote} />
        <PreviewPanel preview={preview} />
      </ChangeForm>
    </div>
  );
}
