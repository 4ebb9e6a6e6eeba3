import type { AuditAnswer, AuditEntry } from '../api/answers.js';
import { anyChangeOrRun } from '../live/concerns.js';
import { SELDOM } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { hasWords } from '../parts/has-words.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { ResultCount } from '../parts/result-count.js';
import { Search } from '../parts/search.js';
import { replaceQuery, route } from '../router.js';
import { AuditTable } from './audit-table.js';

/** Number of loaded entries. The search runs in the browser, over these. */
const MOST = 500;

export function AuditPage() {
  const query = useLive<AuditAnswer>(`audit?limit=${MOST}`, anyChangeOrRun, SELDOM);
  const search = route.value.query.get('search') ?? '';
  return (
    <>
      <p class="lead">
        All changes by people and programs, with author, node and reason. The oldest entries are dropped.
      </p>
      <div class="toolbar">
        <Search label="Search who, what and why" value={search} onValue={(value) => replaceQuery({ search: value })} />
      </div>
      <Loaded query={query}>{({ entries }) => <Entries all={entries} search={search} />}</Loaded>
    </>
  );
}

function Entries({ all, search }: { readonly all: readonly AuditEntry[]; readonly search: string }) {
  const found = all.filter(({ semaphore, by, action, reason }) => hasWords([semaphore, by, action, reason], search));
  return (
    <>
      <ResultCount shown={found.length} all={all.length} one="change" />
      {found.length === 0 && all.length > 0 ? (
        <Empty>Nothing matches.</Empty>
      ) : (
        <section class="panel filling" aria-label="Changes of all semaphores">
          <AuditTable entries={found} />
        </section>
      )}
    </>
  );
}
