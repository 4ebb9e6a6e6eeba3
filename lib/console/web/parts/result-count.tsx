import { count, digits } from './format.js';

interface ResultCountProps {
  readonly shown: number;
  readonly all: number;
  /** The counted thing, in the singular: "semaphore". */
  readonly one: string;
}

/** Shows how many entries a search has found. Screen readers read each change. */
export function ResultCount({ shown, all, one }: ResultCountProps) {
  return (
    <p class="result-count" role="status">
      {shown === all ? count(all, one) : `${digits(shown)} of ${count(all, one)}`}
    </p>
  );
}
