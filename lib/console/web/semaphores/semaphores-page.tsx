import { useMemo, useState } from 'preact/hooks';
import { type MaybeStale, isCurrent, stalePart } from '../../../core/context/stale.js';
import type { SemaphoreOverview } from '../api/answers.js';
import { pathOf } from '../api/call.js';
import { anyChangeOrRun } from '../live/concerns.js';
import { OFTEN } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { FilterButtons } from '../parts/filter-buttons.js';
import { Icon } from '../parts/icon.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { ResultCount } from '../parts/result-count.js';
import { Search } from '../parts/search.js';
import { sorted } from '../parts/sorting.js';
import { StaleNotice } from '../parts/stale-notice.js';
import { changeQuery, route } from '../parts/router.js';
import { whyNot } from '../live/session.js';
import { WorkViews } from '../parts/work-views.js';
import { useChoice } from './choice.js';
import { ChosenPanel } from './chosen-panel.js';
import { COLUMNS } from './columns.js';
import { KIND_LABELS, type Kind, kindOf, usedKinds } from './kind.js';
import { FILTERS, type FilterName, isFilter, matchesSearch } from './condition.js';
import { DefineDialog } from './define-dialog.js';
import { FOLLOW_LIST } from './follow-list.js';
import { SemaphoreTable } from './semaphore-table.js';

export function SemaphoresPage() {
  const query = useLive(pathOf('semaphoreParts'), anyChangeOrRun, OFTEN, FOLLOW_LIST);
  const [isDefining, setDefining] = useState(false);
  return (
    <>
      <WorkViews />
      <Loaded query={query}>
        {(answer) => (
          <>
            <StaleNotice of={answer} />
            <List
              all={answer.semaphores}
              stale={answer.stale}
              onDefine={() => setDefining(true)}
              onChange={() => query.load()}
            />
            {isDefining && <DefineDialog onClose={() => setDefining(false)} />}
          </>
        )}
      </Loaded>
    </>
  );
}

interface ListProps extends MaybeStale {
  readonly all: readonly SemaphoreOverview[];
  readonly onDefine: () => void;
  readonly onChange: () => Promise<void>;
}

function List({ all, stale, onDefine, onChange }: ListProps) {
  const { query } = route.value;
  const search = query.get('search') ?? '';
  const filter = query.get('show');
  const kinds = useMemo(() => usedKinds(all), [all]);
  const kind = kinds.find((each) => each === query.get('kind'));
  const found = useMemo(
    () => all.filter((semaphore) => (!kind || kindOf(semaphore) === kind) && matchesSearch(semaphore, search)),
    [all, search, kind],
  );
  const shown = useMemo(
    () => (isFilter(filter) ? found.filter((semaphore) => FILTERS[filter].has(semaphore)) : found),
    [found, filter],
  );
  const rows = useMemo(() => sorted(shown, COLUMNS), [shown, query.get('sort')]);
  const choice = useChoice(rows);
  const mayChoose = whyNot('operate') === undefined;
  return (
    <>
      <div class="toolbar">
        <Search
          label="Search semaphores, holders, jobs"
          value={search}
          onValue={(value) => changeQuery({ search: value })}
        />
        <Kinds all={all} kinds={kinds} chosen={kind} onChoose={(chosen) => changeQuery({ kind: chosen })} />
        <Filters
          all={found}
          isCurrent={isCurrent({ stale })}
          chosen={isFilter(filter) ? filter : undefined}
          onChoose={(show) => changeQuery({ show })}
        />
        {whyNot('define') === undefined && (
          <button type="button" class="end" onClick={onDefine}>
            <Icon name="add" /> Define
          </button>
        )}
      </div>
      <ResultCount shown={shown.length} all={all.length} one="semaphore" />
      {rows.length > 0 ? (
        <SemaphoreTable semaphores={rows} choice={mayChoose ? choice : undefined} />
      ) : (
        <Empty>{emptyReason(all.length, { stale })}</Empty>
      )}
      {mayChoose && <ChosenPanel choice={choice} onChange={onChange} />}
    </>
  );
}

function emptyReason(all: number, answer: MaybeStale): string {
  if (all === 0 && stalePart(answer, 'records')) return 'The semaphores can’t be read now, and none is known.';
  return all === 0
    ? 'No semaphore is defined yet: define one in code or here.'
    : 'Nothing matches. Change the search or choose another filter.';
}

interface KindsProps {
  readonly all: readonly SemaphoreOverview[];
  readonly kinds: readonly Kind[];
  readonly chosen: Kind | undefined;
  readonly onChoose: (kind: Kind | undefined) => void;
}

/** The filter by kind. It only has the kinds that are in use, and is missing if that is only one. */
function Kinds({ all, kinds, chosen, onChoose }: KindsProps) {
  if (kinds.length < 2) return null;
  const options = kinds.map((kind) => ({
    value: kind,
    label: KIND_LABELS[kind],
    count: all.filter((each) => kindOf(each) === kind).length,
  }));
  return (
    <FilterButtons
      label="Kind"
      options={[{ value: undefined, label: 'All work' }, ...options]}
      chosen={chosen}
      onChoose={onChoose}
    />
  );
}

interface FiltersProps {
  readonly all: readonly SemaphoreOverview[];
  /** Whether no part is stale. If one is, the number of warnings is not known, and 0 would be wrong. */
  readonly isCurrent: boolean;
  readonly chosen: FilterName | undefined;
  readonly onChoose: (filter: FilterName | undefined) => void;
}

function Filters({ all, isCurrent, chosen, onChoose }: FiltersProps) {
  const names = Object.keys(FILTERS) as FilterName[];
  const options = names.map((name) => ({
    value: name,
    label: FILTERS[name].label,
    count: name === 'attention' && !isCurrent ? '?' : all.filter(FILTERS[name].has).length,
  }));
  return (
    <FilterButtons
      label="Show"
      options={[{ value: undefined, label: 'All', count: all.length }, ...options]}
      chosen={chosen}
      onChoose={onChoose}
    />
  );
}
