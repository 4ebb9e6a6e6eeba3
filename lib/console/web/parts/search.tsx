import { Icon } from './icon.js';

interface SearchProps {
  /** Name and placeholder of the field. */
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  /** Name of the landmark, on a page with several searches. */
  readonly landmark?: string;
}

export function Search({ label, value, onValue, landmark }: SearchProps) {
  return (
    <div class="search" role="search" aria-label={landmark}>
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
