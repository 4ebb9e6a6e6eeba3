import { useState } from 'preact/hooks';
import type { SemaphoreOverview } from '../api/answers.js';

/** The rows of a list that the user has chosen for one change. */
export interface Choice {
  /** The chosen rows among those that the list shows. */
  readonly chosen: readonly SemaphoreOverview[];
  readonly has: (name: string) => boolean;
  readonly choose: (name: string, isChosen: boolean) => void;
  /** Chooses all rows that the list shows, or none. */
  readonly chooseAll: (isChosen: boolean) => void;
}

/** Only shown rows count: a change never reaches what a filter hides. */
export function useChoice(shown: readonly SemaphoreOverview[]): Choice {
  const [names, setNames] = useState<ReadonlySet<string>>(new Set());
  return {
    chosen: names.size === 0 ? [] : shown.filter(({ name }) => names.has(name)),
    has: (name) => names.has(name),
    choose: (name, isChosen) =>
      setNames((before) => new Set(isChosen ? [...before, name] : [...before].filter((each) => each !== name))),
    chooseAll: (isChosen) => setNames(new Set(isChosen ? shown.map(({ name }) => name) : [])),
  };
}
