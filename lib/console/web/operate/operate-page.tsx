import { MaintenancePage } from '../maintenance/maintenance-page.js';
import { MigratePage } from '../migrate/migrate-page.js';
import { Views } from '../parts/views.js';

const VIEWS = [
  [['operate'], 'Maintenance'],
  [['operate', 'move'], 'Move work'],
] as const;

/** Changes of many semaphores: a maintenance, or a move to other nodes. */
export function OperatePage({ view }: { readonly view: string | undefined }) {
  return (
    <>
      <Views label="Views of Operate" views={VIEWS} />
      {view === 'move' ? <MigratePage /> : <MaintenancePage />}
    </>
  );
}
