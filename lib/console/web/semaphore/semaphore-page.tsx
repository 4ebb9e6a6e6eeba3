import { useMemo } from 'preact/hooks';
import type { SemaphoreAnswer } from '../api/answers.js';
import { pathOf } from '../api/call.js';
import { concerning } from '../live/concerns.js';
import { useLive } from '../live/use-live.js';
import { Icon } from '../parts/icon.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { AuditTable } from '../audit/audit-table.js';
import { StaleNotice } from '../parts/stale-notice.js';
import { listHref } from '../semaphores/list-place.js';
import { DefinitionPanel } from './definition-panel.js';
import { HistoryTable } from './history-table.js';
import { HoldersPanel } from './holders-panel.js';
import { JobPanels } from './job-panel.js';
import { Summary } from './summary.js';
import { Timeline } from './timeline.js';

export function SemaphorePage({ name }: { readonly name: string }) {
  const concerns = useMemo(() => concerning(name), [name]);
  const query = useLive(pathOf('semaphore', { params: { name } }), concerns);
  return (
    <>
      <a class="back" href={listHref()}>
        <Icon name="back" /> All work
      </a>
      <Loaded query={query}>{(detail) => <Detail detail={detail} onChange={() => query.load()} />}</Loaded>
    </>
  );
}

interface DetailProps {
  readonly detail: SemaphoreAnswer;
  readonly onChange: () => Promise<void>;
}

function Detail({ detail, onChange }: DetailProps) {
  const { semaphore, explanation, definedBy, runs, audit } = detail;
  return (
    <>
      <StaleNotice of={detail} />
      <Summary semaphore={semaphore} explanation={explanation} definedBy={definedBy} onChange={onChange} />
      <div class="columns">
        <HoldersPanel semaphore={semaphore} onChange={onChange} />
        <DefinitionPanel semaphore={semaphore} onChange={onChange} />
      </div>
      {semaphore.holders.length + (runs ?? []).length > 0 && (
        <Timeline holders={semaphore.holders} history={runs ?? []} changes={audit ?? []} />
      )}
      <JobPanels name={semaphore.name} changes={audit ?? []} />
      <section class="panel" aria-labelledby="history-title">
        <h2 id="history-title">History</h2>
        {runs ? <HistoryTable runs={runs} /> : <Empty>The runs can’t be read now.</Empty>}
      </section>
      <section class="panel" aria-labelledby="audit-title">
        <h2 id="audit-title">Changes</h2>
        {audit ? <AuditTable entries={audit} isOfOne /> : <Empty>The changes can’t be read now.</Empty>}
      </section>
    </>
  );
}
