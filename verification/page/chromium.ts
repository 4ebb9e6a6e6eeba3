import { existsSync } from 'node:fs';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Locator,
  type Page,
  chromium,
} from 'playwright-core';
import { PAGE_HEADER } from '../../lib/console/api/limits.js';
import { describeUnless } from '../../test/support/unless.js';

const PATH = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
const HOW = `"apt-get install chromium", or name one in the environment variable CHROMIUM_PATH`;

/** Why no browser can be used; undefined: one can. */
export const lackOfBrowser = existsSync(PATH) ? undefined : `there is no browser at ${PATH}: ${HOW}`;

/** Tests that need a browser. */
export const describeInBrowser = describeUnless(lackOfBrowser);

export interface Visit extends BrowserContextOptions {
  /** A token with which this browser has signed in before. */
  readonly token?: string;
  /** After the `#`. */
  readonly at?: string;
  /** Runs before the page is opened. */
  readonly prepare?: (context: BrowserContext) => Promise<unknown>;
}

export interface Visited {
  readonly page: Page;
  /** Complaints of the browser: errors, refused requests, violations of the content security policy. */
  readonly complaints: string[];
}

/**
 * A browser for the tests of a file; every page it opened is closed with its test. Call it before `useConsolesWithPage()`:
 * hooks run in this order, and a browser that is still open keeps spare connections, for which a console that closes waits
 * up to 10 s.
 */
export function useBrowser() {
  let browser: Browser;
  const contexts: BrowserContext[] = [];
  beforeAll(async () => {
    // The sandbox needs rights that a container rarely gives; nothing but our own page is opened.
    browser = await chromium.launch({ executablePath: PATH, args: ['--no-sandbox', '--js-flags=--expose-gc'] });
  });
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
  });
  afterAll(() => browser.close());

  return async function visit(url: string, { token, at = '/', prepare, ...options }: Visit = {}): Promise<Visited> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    contexts.push(context);
    context.setDefaultTimeout(60_000);
    await prepare?.(context);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    if (token !== undefined) await signIn(context, url, token);
    await page.goto(`${url}/#${at}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    return { page, complaints };
  };
}

/** Waits until nothing matches. Without `first()`, Playwright refuses to wait while several elements do. */
export function gone(matches: Locator): Promise<void> {
  return matches.first().waitFor({ state: 'detached' });
}

/** As the page does, so that the browser has the cookie of the session. */
async function signIn(context: BrowserContext, url: string, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, [PAGE_HEADER]: new URL(url).port };
  const answer = await context.request.post(`${url}/api/session`, { headers, data: {} });
  if (!answer.ok()) throw new Error(`signing in failed with ${answer.status()}: ${await answer.text()}`);
}
