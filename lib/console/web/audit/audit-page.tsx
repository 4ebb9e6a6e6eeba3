import type { AuditAnswer } from '../api/answers.js';
import { anyChangeOrRun } from '../live/concerns.js';
import { SELDOM } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { hasWords } from '../parts/has-words.js';
import { Loaded } from '../parts/page-state.js';
import { Search } from '../parts/search.js';
import { replaceQuery, route } from '../router.js';
import { AuditTable } from './audit-table.js';

/** So many are asked for, and searched here. */
const MOST = 500;

export function AuditPage() {
  const query = useLive<AuditAnswer>(`audit?limit=${MOST}`, anyChangeOrRun, SELDOM);
  const search = route.value.query.get('search') ?? '';
  return (
    <>
      <p class="lead">Who changed what, through which node, and why. The oldest entries fall out.</p>
      <div class="toolbar">
        <Search label="Search who, what and why" value={search} onValue={(value) => replaceQuery({ search: value })} />
      </div>
      <Loaded query={query}>
        {({ entries }) => (
          <section class="panel" aria-label="Changes of all semaphores">
            <AuditTable
              entries={entries.filter(({ semaphore, by, action, reason }) =>
                hasWords([semaphore, by, action, reason], search),
              )}
            />
          </section>
        )}
      </Loaded>
    </>
  );
}
