import { type Console, type Host, useConsoles } from '../../test/console/consoles.js';

/** Consoles that serve the page as `npm run build` made it; all other code is tested from its sources. */
export function useConsolesWithPage(): (host?: Host) => Promise<Console> {
  return useConsoles();
}
