import type { AuditAnswer } from '../api/answers.js';
import { anyChangeOrRun } from '../live/concerns.js';
import { useLive } from '../live/use-live.js';
import { Field } from '../parts/field.js';
import { Loaded } from '../parts/page-state.js';
import { replaceQuery, route } from '../router.js';
import { AuditTable } from './audit-table.js';

/** So many are asked for, and searched here. */
const MOST = 500;

export function AuditPage() {
  const query = useLive<AuditAnswer>(`audit?limit=${MOST}`, anyChangeOrRun);
  const search = route.value.query.get('search') ?? '';
  return (
    <>
      <p class="lead">Who changed what, through which node, and why. The oldest entries fall out.</p>
      <div class="toolbar narrow">
        <Field
          label="Search who, what and why"
          value={search}
          onValue={(value) => replaceQuery({ search: value })}
          input={{ type: 'search' }}
        />
      </div>
      <Loaded query={query}>
        {({ entries }) => (
          <section class="panel" aria-label="Changes of all semaphores">
            <AuditTable
              entries={entries.filter(({ semaphore, by, action, reason }) =>
                has([semaphore, by, action, reason], search),
              )}
            />
          </section>
        )}
      </Loaded>
    </>
  );
}

function has(texts: readonly (string | undefined)[], search: string): boolean {
  const all = texts.join('\n').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
