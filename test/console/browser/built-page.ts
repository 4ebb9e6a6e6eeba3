import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Route } from 'playwright-core';

const folder = fileURLToPath(new URL('../../../dist/console/web/', import.meta.url));
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'";

interface Manifest {
  readonly page: string;
  readonly assets: Readonly<Record<string, { readonly file: string; readonly type: string }>>;
}

/** Gives the browser the page that `npm run build` made, under the policy that it has to run under. */
export async function serveBuiltPage(context: BrowserContext, url: string): Promise<void> {
  const { page, assets } = JSON.parse(await readFile(`${folder}manifest.json`, 'utf8')) as Manifest;
  const give = async (route: Route, file: string, contentType: string) => {
    const headers = { 'content-security-policy': POLICY };
    await route.fulfill({ body: await readFile(folder + file), contentType, headers });
  };
  await context.route(`${url}/`, (route) => give(route, page, 'text/html; charset=utf-8'));
  for (const [name, { file, type }] of Object.entries(assets)) {
    await context.route(`${url}/assets/${name}`, (route) => give(route, file, type));
  }
}
