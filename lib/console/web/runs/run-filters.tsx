import { useState } from 'preact/hooks';
import type { HistoryAnswer, RunKind } from '../api/answers.js';
import { messageOf } from '../api/api-error.js';
import { type Path, pathOf, request } from '../api/call.js';
import { nothing } from '../live/concerns.js';
import { RARELY } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { FilterButtons } from '../parts/filter-buttons.js';
import { announce } from '../parts/notices.js';
import { changeQuery, route } from '../parts/router.js';

/** Number of loaded entries. */
export const MOST_RUNS = 500;
/** Number of entries in a file. */
const MOST_SAVED = 10_000;

const KINDS: Record<RunKind, string> = {
  failed: 'Failed',
  running: 'Running',
  skipped: 'Skipped',
  lost: 'Lost its permit',
  ok: 'Ended well',
};
const KIND_OPTIONS = Object.entries(KINDS).map(([value, label]) => ({ value, label }));
const TIMES = { '1h': 'Last hour', '1d': 'Last day', '7d': 'Last 7 days', '31d': 'Last 31 days' } as const;

/** Filters in the address that the server applies. */
const FILTERS = ['show', 'since', 'job', 'node'] as const;

/** The call for the runs that the address asks for. */
export function runsPath(query: URLSearchParams, limit = MOST_RUNS): Path<HistoryAnswer> {
  const given = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? '']));
  return pathOf('history', { query: { limit, ...given } });
}

/** Kind, time, job and node of the shown runs, and the download of all of them. */
export function RunFilters() {
  const chosen = route.value.query.get('show');
  const jobs = useLive(pathOf('jobs'), nothing, RARELY).data.value?.jobs ?? [];
  const nodes = useLive(pathOf('nodes'), nothing, RARELY).data.value?.nodes ?? [];
  return (
    <>
      <FilterButtons
        label="Show"
        options={[{ value: undefined, label: 'All runs' }, ...KIND_OPTIONS]}
        chosen={chosen === null ? undefined : chosen}
        onChoose={(show) => changeQuery({ show })}
      />
      <div class="filters choices">
        <Choice name="since" label="Period" all="Any time" options={Object.entries(TIMES)} />
        <Choice name="job" label="Job" all="All jobs" options={distinct(jobs.map(({ job }) => job))} />
        <Choice name="node" label="Node" all="All nodes" options={distinct(nodes.map(({ acquirer }) => acquirer))} />
        <Download />
      </div>
    </>
  );
}

function distinct(names: readonly string[]): [value: string, label: string][] {
  return [...new Set(names)].toSorted().map((name) => [name, name]);
}

interface ChoiceProps {
  readonly name: (typeof FILTERS)[number];
  readonly label: string;
  /** Label of the choice of everything. */
  readonly all: string;
  readonly options: readonly (readonly [value: string, label: string])[];
}

/** A value from the address that is no option is one, too: it may be a job that is no longer known. */
function Choice({ name, label, all, options }: ChoiceProps) {
  const chosen = route.value.query.get(name) ?? '';
  const isKnown = chosen === '' || options.some(([value]) => value === chosen);
  return (
    <select aria-label={label} onChange={(event) => changeQuery({ [name]: event.currentTarget.value })}>
      {[['', all], ...(isKnown ? [] : [[chosen, chosen]]), ...options].map(([value, text]) => (
        <option key={value} value={value} selected={value === chosen}>
          {text}
        </option>
      ))}
    </select>
  );
}

/** The page fetches the file, because a link of the browser would not send the token. */
function Download() {
  const [isLoading, setLoading] = useState(false);
  const save = async () => {
    setLoading(true);
    try {
      const answer = await request(runsPath(route.value.query, MOST_SAVED), { accept: 'text/csv' });
      saveAs('runs.csv', await answer.blob());
    } catch (error) {
      announce(messageOf(error), { isBad: true });
    } finally {
      setLoading(false);
    }
  };
  return (
    <button type="button" disabled={isLoading} onClick={() => void save()}>
      Download CSV
    </button>
  );
}

function saveAs(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
