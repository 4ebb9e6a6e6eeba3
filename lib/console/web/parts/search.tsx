import { Icon } from './icon.js';

interface SearchProps {
  /** Name and placeholder of the field. */
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

export function Search({ label, value, onValue }: SearchProps) {
  return (
    <div class="search" role="search">
      <Icon name="search" />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </div>
  );
}
