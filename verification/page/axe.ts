import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Violations of accessibility rules that axe reports, with their elements. */
export async function violations(page: Page): Promise<unknown> {
  // As the debugger does it: the page's own policy lets no other script in.
  await page.evaluate(await readFile(AXE, 'utf8'));
  return page.evaluate(`axe.run(document).then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, nodes.map(({ html, any }) => [html, any.map(({ message }) => message)])]))`);
}
