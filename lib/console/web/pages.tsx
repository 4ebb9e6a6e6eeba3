import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { AuditPage } from './audit/audit-page.js';
import { MaintenancePage } from './maintenance/maintenance-page.js';
import { MigratePage } from './migrate/migrate-page.js';
import { NodesPage } from './nodes/nodes-page.js';
import { hrefOf, route } from './router.js';
import { SemaphorePage } from './semaphore/semaphore-page.js';
import { SemaphoresPage } from './semaphores/semaphores-page.js';

/** Shows the page that the address names. */
export function Page() {
  const [page = 'semaphores', name] = route.value.path;
  switch (page) {
    case 'semaphores':
      if (name === undefined) return <Main key="semaphores" title="Semaphores" children={<SemaphoresPage />} />;
      return <Main key={`semaphore ${name}`} title={name} children={<SemaphorePage name={name} />} />;
    case 'nodes':
      return <Main key="nodes" title="Nodes" children={<NodesPage />} />;
    case 'migrate':
      return <Main key="migrate" title="Migrate" children={<MigratePage />} />;
    case 'maintenance':
      return <Main key="maintenance" title="Maintenance" children={<MaintenancePage />} />;
    case 'audit':
      return <Main key="audit" title="Audit log" children={<AuditPage />} />;
    default:
      return <Main key="unknown" title="No such page" children={<Nowhere />} />;
  }
}

function Nowhere() {
  return (
    <p>
      This console has no such page. <a href={hrefOf(['semaphores'])}>To the semaphores</a>
    </p>
  );
}

let isFirstPage = true;

/** Moves the focus to the heading of a new page, so that a screen reader reads it. */
function Main({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Gatekeeper`;
    if (!isFirstPage) {
      heading.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    isFirstPage = false;
  }, []);
  return (
    <main>
      <h1 tabIndex={-1} ref={heading}>
        {title}
      </h1>
      {children}
    </main>
  );
}
