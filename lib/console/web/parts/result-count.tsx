import { count } from './format.js';

interface ResultCountProps {
  readonly shown: number;
  readonly all: number;
  /** The thing that is counted: "semaphore". */
  readonly one: string;
}

/** How many of them a search has found; read out when it changes. */
export function ResultCount({ shown, all, one }: ResultCountProps) {
  return (
    <p class="result-count" role="status">
      {shown === all ? count(all, one) : `${shown.toLocaleString()} of ${count(all, one)}`}
    </p>
  );
}
