import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly hint?: ComponentChildren;
  readonly faults?: readonly string[];
  readonly input?: InputHTMLAttributes<HTMLInputElement>;
}

/** A text field with a label. Its faults are below it, and screen readers read them with the field. */
export function Field({ label, value, onValue, hint, faults = [], input }: FieldProps) {
  const id = useId();
  const isFaulty = faults.length > 0;
  const described = [hint && `${id}-hint`, isFaulty && `${id}-fault`].filter(Boolean).join(' ');
  return (
    <div class={isFaulty ? 'field faulty' : 'field'}>
      <label for={id}>{label}</label>
      <input
        type="text"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        {...input}
        id={id}
        value={value}
        aria-invalid={isFaulty}
        aria-describedby={described || undefined}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      {hint && (
        <div class="hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
      {isFaulty && (
        <p class="fault" id={`${id}-fault`}>
          {faults.join(' · ')}
        </p>
      )}
    </div>
  );
}
