import { type Host, TOKENS } from '../../test/console/consoles.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, useBrowser } from './chromium.js';

describeInBrowser('signing in', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();
  const startWithOne = async (host?: Host) => {
    const { url, gatekeeper } = await start(host);
    await gatekeeper.definitions.define({ name: 'nightly', duration: '1m' });
    return { url };
  };

  it('shows nothing before it knows who is there', async () => {
    const { url } = await startWithOne();
    const { page } = await visit(url);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Sign in');
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await page.content()).not.toContain('nightly');
  });

  it('refuses a token that it does not know, and takes one that it does', async () => {
    const { url } = await startWithOne();
    const { page } = await visit(url);
    await page.getByLabel('Token').fill('another-owners-token');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This token is not known here.').waitFor();

    await page.getByLabel('Token').fill(TOKENS.view);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'nightly' }).waitFor();
    expect(await page.getByRole('banner').innerText()).toContain('vera');
    expect(page.url()).not.toContain(TOKENS.view);
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(1);
  });

  it('leads back to the login when a call is refused, and leaves nothing in view', async () => {
    const { url } = await startWithOne();
    const { page } = await visit(url, { token: TOKENS.define });
    await page.getByRole('link', { name: 'nightly' }).waitFor();
    await page.route(/\/api\//, (route) =>
      route.fulfill({ status: 401, contentType: 'application/problem+json', body: '{"code":"no-token"}' }),
    );
    // The next request, by this step or by the page itself.
    await page.goto(`${url}/#/nodes`);
    await page.getByText('your token is not accepted any more').waitFor();
    expect(await page.content()).not.toContain('nightly');

    await page.unroute(/\/api\//);
    await page.getByRole('button', { name: 'Try again without a new sign-in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Nodes' }).waitFor();
  });

  it('marks the tab of the page that it leads to', async () => {
    const { url } = await startWithOne();
    const { page } = await visit(url);
    const marked = page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current="page"]');
    const signIn = async () => {
      await page.getByLabel('Token').fill(TOKENS.view);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1 }).and(page.locator(':not(form *)')).waitFor();
    };
    for (const [at, tab] of [
      ['', 'Work'],
      ['#/nodes', 'Nodes'],
      ['#/semaphores', 'Work'],
      ['#/runs/next', 'Runs'],
    ]) {
      await page.goto('about:blank');
      await page.goto(`${url}/${at}`);
      await signIn();
      expect({ at, marked: await marked.allInnerTexts() }).toEqual({ at, marked: [tab] });
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Token').waitFor();
    }
    await signIn();
    expect(await marked.allInnerTexts()).toEqual(['Runs']);
  });

  it('signs out', async () => {
    const { url } = await start();
    const { page } = await visit(url, { token: TOKENS.define });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    expect(await page.context().cookies(`${url}/api/session`)).toEqual([]);
    await page.reload();
    await page.getByLabel('Token').waitFor();
  });

  it('stays signed in, and says so, when no node hears of the sign-out', async () => {
    const { url } = await startWithOne();
    const { page } = await visit(url, { token: TOKENS.define });
    await page.route(/\/api\/session/, (route) => route.abort());
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are still signed in: No node can be reached').waitFor();
    await page.getByRole('link', { name: 'nightly' }).waitFor();
  });

  it('says why a browser that keeps no cookies can’t sign in', async () => {
    const { url } = await startWithOne();
    const { page } = await visit(url);
    // As a cookie that another host of the domain has planted, and that the page can't see.
    const { hostname: domain, port } = new URL(url);
    const planted = { name: `gatekeeper-session-${port}`, value: 'x', domain, path: '/' };
    await page.context().addCookies([planted]);
    await page.getByLabel('Token').fill(TOKENS.view);
    await page.keyboard.press('Enter');
    await page.getByText('This browser keeps no session. Allow cookies for this host').waitFor();
    await page.context().clearCookies();
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'nightly' }).waitFor();
  });

  it('keeps the token nowhere: the browser has a session that no script can read', async () => {
    const { url } = await startWithOne();
    const { page } = await visit(url);
    await page.getByLabel('Token').fill(TOKENS.view);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'nightly' }).waitFor();
    const readable = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    expect(readable).not.toMatch(new RegExp(`${TOKENS.view}|gatekeeper-session`));
    const { pathname } = new URL(`${url}/api`);
    expect(await page.context().cookies(`${url}/api/session`)).toMatchObject([
      { httpOnly: true, sameSite: 'Strict', secure: false, path: pathname, expires: -1 },
    ]);
  });

  it('needs no token where the console needs none', async () => {
    const { url } = await startWithOne({ console: { insecure: true, environment: 'staging' } });
    const { page } = await visit(url);
    await page.getByRole('link', { name: 'nightly' }).waitFor();
    expect(await page.getByRole('banner').innerText()).toContain('staging');
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
  });
});
