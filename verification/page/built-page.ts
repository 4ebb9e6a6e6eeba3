import { PageFiles } from '../../lib/console/page/page-files.js';
import { type Console, type Host, useConsoles } from '../../test/console/consoles.js';

/** The page as `npm run build` made it; all other code is tested from its sources. */
const BUILT = new URL('../../dist/console/web/', import.meta.url);

/** Consoles that serve the built page. */
export function useConsolesWithPage(): (host?: Host) => Promise<Console> {
  const start = useConsoles();
  return (host = {}) => start({ ...host, overrides: [[PageFiles, new PageFiles(BUILT)]] });
}
