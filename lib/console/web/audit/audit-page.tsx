import type { AuditEntry } from '../api/answers.js';
import { pathOf } from '../api/call.js';
import { anyChangeOrRun } from '../live/concerns.js';
import { SELDOM } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { hasWords } from '../parts/has-words.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { ResultCount } from '../parts/result-count.js';
import { Search } from '../parts/search.js';
import { changeQuery, route } from '../parts/router.js';
import { AuditTable } from './audit-table.js';

/** Entries that are loaded at first, and that each click loads besides. The search runs in the browser, over these. */
const STEP = 500;
/** The API gives no more. */
const MOST = 10_000;

export function AuditPage() {
  const newest = newestOf(route.value.query.get('newest'));
  const query = useLive(pathOf('audit', { query: { limit: newest } }), anyChangeOrRun, SELDOM);
  const search = route.value.query.get('search') ?? '';
  return (
    <>
      <p class="lead">
        All changes by people and programs, with author, node and reason. The oldest entries are dropped.
      </p>
      <div class="toolbar">
        <Search label="Search who, what and why" value={search} onValue={(value) => changeQuery({ search: value })} />
      </div>
      <Loaded query={query}>{({ entries }) => <Entries all={entries} newest={newest} search={search} />}</Loaded>
    </>
  );
}

/** The number in the address, which the user may have changed. */
function newestOf(text: string | null): number {
  const steps = Math.ceil(Number(text) / STEP);
  return Math.min(MOST, Math.max(1, steps || 1) * STEP);
}

interface EntriesProps {
  readonly all: readonly AuditEntry[];
  /** Number of entries that were asked for. */
  readonly newest: number;
  readonly search: string;
}

function Entries({ all, newest, search }: EntriesProps) {
  const found = all.filter(({ semaphore, by, action, reason }) => hasWords([semaphore, by, action, reason], search));
  return (
    <>
      <ResultCount shown={found.length} all={all.length} one="change" newest={newest} />
      {found.length === 0 && all.length > 0 ? (
        <Empty>Nothing matches.</Empty>
      ) : (
        <section class="panel filling" aria-label="Changes of all semaphores">
          <AuditTable entries={found} />
        </section>
      )}
      {all.length >= newest && newest < MOST && (
        <div class="buttons">
          <button type="button" onClick={() => changeQuery({ newest: String(newest + STEP) })}>
            Load {STEP} older changes
          </button>
        </div>
      )}
    </>
  );
}
