import { isNarrow } from '../live/screen.js';
import { digits } from './format.js';

interface Option<Value extends string> {
  /** Undefined: the choice of everything. */
  readonly value: Value | undefined;
  readonly label: string;
  /** Number of entries that it shows; a text if it is not known. */
  readonly count?: number | string;
}

interface FilterButtonsProps<Value extends string> {
  /** Name of the group for screen readers. */
  readonly label: string;
  readonly options: readonly Option<Value>[];
  readonly chosen: Value | undefined;
  readonly onChoose: (value: Value | undefined) => void;
}

/** A choice of one filter: a button each, or a single menu on a narrow screen, where the buttons would fill it. */
export function FilterButtons<Value extends string>({ label, options, chosen, onChoose }: FilterButtonsProps<Value>) {
  if (isNarrow.value) {
    return (
      <select
        class="filter"
        aria-label={label}
        onChange={({ currentTarget }) => onChoose(options[currentTarget.selectedIndex]!.value)}
      >
        {options.map((option) => (
          <option key={option.label} selected={option.value === chosen}>
            {option.label}
            {option.count !== undefined && ` (${countText(option.count)})`}
          </option>
        ))}
      </select>
    );
  }
  return (
    <div class="filters" role="group" aria-label={label}>
      {options.map((option) => (
        <button
          type="button"
          key={option.label}
          aria-pressed={option.value === chosen}
          onClick={() => onChoose(option.value)}
        >
          {option.label}
          {option.count !== undefined && (
            <>
              {' '}
              <span class="number">{countText(option.count)}</span>
            </>
          )}
        </button>
      ))}
    </div>
  );
}

function countText(count: number | string): string {
  return typeof count === 'number' ? digits(count) : count;
}
