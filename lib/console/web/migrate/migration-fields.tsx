import { Field } from '../parts/field.js';
import type { MigrationInput } from './migration-input.js';

interface MigrationFieldsProps {
  readonly input: MigrationInput;
  readonly onInput: (input: MigrationInput) => void;
  readonly isDisabled: boolean;
}

export function MigrationFields({ input, onInput, isDisabled }: MigrationFieldsProps) {
  const field = (name: keyof MigrationInput, label: string, hint: string, placeholder: string) => (
    <Field
      label={label}
      value={input[name]}
      onValue={(value) => onInput({ ...input, [name]: value })}
      hint={hint}
      input={{ class: 'code', placeholder, disabled: isDisabled }}
    />
  );
  return (
    <div class="columns">
      <fieldset>
        <legend>What</legend>
        {field('names', 'Names of semaphores', 'RE2; must match the whole name. Empty: all of them.', '.*')}
        {field(
          'group',
          'Open to the group',
          'Name of a group: only semaphores whose group pattern matches it now. Empty: all.',
          'production',
        )}
      </fieldset>
      <fieldset>
        <legend>Where to</legend>
        {field('groupPattern', 'New group pattern', 'RE2. Empty: unchanged.', 'dr-site')}
        {field('acquirerPattern', 'New acquirer pattern', 'RE2. Empty: unchanged.', '.*')}
      </fieldset>
    </div>
  );
}
