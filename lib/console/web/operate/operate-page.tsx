import { MaintenancePage } from '../maintenance/maintenance-page.js';
import { MigratePage } from '../migrate/migrate-page.js';
import { Views } from '../parts/views.js';
import { DeadLettersPage } from '../tasks/dead-letters-page.js';

const VIEWS = [
  [['operate'], 'Maintenance'],
  [['operate', 'move'], 'Move work'],
  [['operate', 'dead-letters'], 'Dead letters'],
] as const;

/** Changes of many: a maintenance, a move to other nodes, or the requeue of tasks. */
export function OperatePage({ view }: { readonly view: string | undefined }) {
  return (
    <>
      <Views label="Views of Operate" views={VIEWS} />
      <View view={view} />
    </>
  );
}

function View({ view }: { readonly view: string | undefined }) {
  if (view === 'move') return <MigratePage />;
  return view === 'dead-letters' ? <DeadLettersPage /> : <MaintenancePage />;
}
