import type { BrowserContext, Page } from 'playwright-core';
import { TOKENS } from '../../test/console/consoles.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, useBrowser } from './chromium.js';

const CODE = [{ name: 'nightly', duration: '1m' }];

describeInBrowser('the tabs of one console', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();
  const boot = async (token: string = TOKENS.operate) => {
    const { url } = await start({ gatekeeper: { definitions: CODE } });
    const { page, complaints } = await visit(url, { ...(token && { token }) });
    return { url, page, complaints, context: page.context() };
  };

  it('share a sign-in: a pasted link opens its page', async () => {
    const { url, page, context, complaints } = await boot();
    await page.getByRole('link', { name: 'nightly' }).waitFor();
    const other = await opened(context, `${url}/#/work/nightly`);
    await other.getByRole('heading', { level: 1, name: 'nightly' }).waitFor();
    expect(await other.getByRole('banner').innerText()).toContain('otto');
    expect(complaints).toEqual([]);
  });

  it('share a sign-in: so does a link that is opened in a new tab', async () => {
    const { page, context } = await boot();
    const arrives = context.waitForEvent('page');
    await page.getByRole('link', { name: 'nightly' }).click({ modifiers: ['Control'] });
    const other = await arrives;
    await other.getByRole('heading', { level: 1, name: 'nightly' }).waitFor();
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Work');
  });

  it('keep the sign-in over a reload after the tab that gave it is closed', async () => {
    const { url, page, context } = await boot();
    await page.getByRole('link', { name: 'nightly' }).waitFor();
    const other = await opened(context, `${url}/#/work`);
    await other.getByRole('link', { name: 'nightly' }).waitFor();
    await page.close();
    await other.reload();
    await other.getByRole('link', { name: 'nightly' }).waitFor();
  });

  it('are all signed out by one, also one that was away meanwhile', async () => {
    const { url, page, context } = await boot();
    await page.getByRole('link', { name: 'nightly' }).waitFor();
    const [other, away] = [await opened(context, `${url}/#/work`), await opened(context, `${url}/#/work`)];
    for (const tab of [other, away]) await tab.getByRole('link', { name: 'nightly' }).waitFor();
    await away.goto('about:blank');
    await other.getByRole('button', { name: 'Sign out' }).click();
    await other.getByLabel('Token').waitFor();
    await page.getByText('You signed out in another tab.').waitFor();
    expect(await page.content()).not.toContain('nightly');
    await away.goBack();
    await away.getByLabel('Token').waitFor();
    expect(await context.cookies(`${url}/api/session`)).toEqual([]);
  });

  it('give nothing after the sign-out', async () => {
    const { url, page, context } = await boot();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    const other = await opened(context, `${url}/#/work`);
    expect(await other.getByRole('heading', { level: 1 }).innerText()).toBe('Sign in');
    expect(await other.getByText('nightly').count()).toBe(0);
  });

  it('keep the session when only this tab is refused', async () => {
    const { url, page, context } = await boot();
    const other = await opened(context, `${url}/#/work`);
    await other.getByRole('link', { name: 'nightly' }).waitFor();
    await other.route(/\/api\//, (route) =>
      route.fulfill({ status: 401, contentType: 'application/problem+json', body: '{"code":"no-token"}' }),
    );
    await other.goto(`${url}/#/nodes`);
    await other.getByLabel('Token').waitFor();
    await page.goto(`${url}/#/nodes`);
    await page.getByRole('heading', { level: 1, name: 'Nodes' }).waitFor();
  });

  it('give nothing to another origin', async () => {
    const { page, context } = await boot();
    await page.getByRole('link', { name: 'nightly' }).waitFor();
    const elsewhere = await start({ gatekeeper: { definitions: CODE } });
    const other = await opened(context, `${elsewhere.url}/#/work`);
    expect(await other.getByRole('heading', { level: 1 }).innerText()).toBe('Sign in');
  });

  it('are all signed in by one', async () => {
    const { url, page, context } = await boot('');
    const other = await opened(context, `${url}/#/work`);
    await page.getByLabel('Token').fill(TOKENS.operate);
    await page.keyboard.press('Enter');
    for (const tab of [page, other]) await tab.getByRole('link', { name: 'nightly' }).waitFor();
  });

  it('show another user what is his, from the beginning, after a sign-in in another tab', async () => {
    const { url, page, context } = await boot();
    await page.getByRole('link', { name: 'nightly' }).waitFor();
    const other = await opened(context, `${url}/#/work`);
    await other.getByRole('link', { name: 'nightly' }).waitFor();
    await other.route(/\/api\//, (route) =>
      route.fulfill({ status: 401, contentType: 'application/problem+json', body: '{"code":"no-token"}' }),
    );
    await other.goto(`${url}/#/nodes`);
    await other.getByLabel('Token').waitFor();
    await other.unroute(/\/api\//);
    const streams: string[] = [];
    page.on('request', (request) => request.url().endsWith('/api/events') && streams.push(request.url()));
    await other.getByLabel('Token').fill(TOKENS.view);
    await other.keyboard.press('Enter');
    await page.getByRole('banner').getByText('vera').waitFor();
    await page.getByRole('link', { name: 'nightly' }).waitFor();
    expect(streams).toHaveLength(1);
  });

  it('leave at once when another one signs out, also if no node answers any more', async () => {
    const { url, page, context } = await boot();
    await page.getByRole('link', { name: 'nightly' }).waitFor();
    const other = await opened(context, `${url}/#/work`);
    await page.route(/\/api\//, (route) => route.abort());
    await other.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You signed out in another tab.').waitFor();
    expect(await page.content()).not.toContain('nightly');
  });

  it('give no session to the script of another page of the application', async () => {
    const { url, page, context } = await boot();
    await page.getByRole('link', { name: 'nightly' }).waitFor();
    const stranger = await pageOfApplication(context, url);
    await stranger.evaluate(`history.pushState(null, '', ${JSON.stringify(`${url}/api/session`)})`);
    expect(await stranger.evaluate('document.cookie')).toBe('');
  });

  it('can’t be reached by the page of the application that opened one of them', async () => {
    const { url, page, context } = await boot();
    await page.getByRole('link', { name: 'nightly' }).waitFor();
    const stranger = await pageOfApplication(context, url);
    const arrives = context.waitForEvent('page');
    await stranger.evaluate(`{ window.opened = open(${JSON.stringify(`${url}/`)}); }`);
    const other = await arrives;
    await other.getByRole('heading', { level: 1 }).waitFor();
    expect(await stranger.evaluate(`window.opened.closed`)).toBe(true);
    expect(
      await stranger.evaluate(`(() => { try { return window.opened.document.title.length; } catch { return 0; } })()`),
    ).toBe(0);
  });
});

async function opened(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return page;
}

/** A page beside the console, of the same origin. */
async function pageOfApplication(context: BrowserContext, url: string): Promise<Page> {
  const address = `${new URL(url).origin}/shop`;
  await context.route(address, (route) => route.fulfill({ contentType: 'text/html', body: '<h1>The shop</h1>' }));
  return opened(context, address);
}
