import { count, digits } from './format.js';

interface ResultCountProps {
  readonly shown: number;
  readonly all: number;
  /** The counted thing, in the singular: "semaphore". */
  readonly one: string;
  /** Maximum number of loaded entries, if the list has only the newest ones. */
  readonly newest?: number;
}

/** Shows how many entries a search has found, and whether older ones may be missing. Screen readers read each change. */
export function ResultCount({ shown, all, one, newest = Infinity }: ResultCountProps) {
  return (
    <p class="result-count" role="status">
      {shown === all ? count(all, one) : `${digits(shown)} of ${count(all, one)}`}
      {all >= newest && `: only the newest ${digits(newest)} are shown and searched`}
    </p>
  );
}
