import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const SCRIPT = fileURLToPath(new URL('layout-faults.mjs', import.meta.url));

/** What leaves the screen, is cut, glued, broken or overlapped on the page that is shown, or in its open dialog. */
export async function layoutFaults(page: Page): Promise<string[]> {
  // As axe.ts does it: the page's own policy lets no other script in.
  return page.evaluate<string[]>(await readFile(SCRIPT, 'utf8'));
}
