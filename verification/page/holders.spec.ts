import { StoreUnavailableError, memory } from 'nestjs-gatekeeper';
import { scripted } from '../../test/support/scripted-store.js';
import { TOKENS } from '../../test/console/consoles.js';
import { violations } from './axe.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, gone, useBrowser } from './chromium.js';

const UNHEARD = 'not heard of';
const LONG_NAME = `app2-${'x'.repeat(60)}`;
const DEFINITIONS = ['nightly', 'mailing'].map((name) => ({ name, duration: '10m' }));

describeInBrowser('the holders in the console', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();

  it('are those alone whose permits have not ended, as the state beside them says', async () => {
    const definitions = [{ name: 'nightly', duration: '1m' }];
    const { url, gatekeeper, get } = await start({ gatekeeper: { definitions } });
    await gatekeeper.tryAcquire('nightly');
    const [semaphore] = (await get('/api/semaphores')).json.semaphores;
    const [holder] = semaphore.holders;
    // The record keeps a permit that has ended until a change or a sweep drops it.
    const ended = { ...semaphore, holders: [{ ...holder, remaining: -4000, expiresAt: Date.now() - 4000 }] };
    const { page } = await visit(url, {
      token: TOKENS.view,
      at: '/work',
      prepare: (context) =>
        context.route(/\/api\/semaphore/, async (route) => {
          const answer = await route.fetch();
          const json = await answer.json();
          const changed = json.changed && [{ part: 0, items: [ended] }];
          await route.fulfill({ json: { ...json, ...(changed ? { changed } : { semaphore: ended }) } });
        }),
    });
    const row = page.getByRole('row').filter({ hasText: 'nightly' });
    await row.getByText('free').waitFor();
    await row.getByText('0 of 1 permit').waitFor();
    await page.getByRole('link', { name: 'nightly' }).click();
    await page.getByRole('region', { name: 'Held' }).getByText('0 of 1 permit').waitFor();
    await page.getByText('No permit is held.').waitFor();
    // An answer that is on its way to the page would reach a closed one.
    await page.context().unrouteAll({ behavior: 'wait' });
  });

  it('are marked in the list and on their page if they are no longer heard of', async () => {
    const store = memory();
    const options = { definitions: DEFINITIONS, heartbeat: 200 };
    const { url, gatekeeper } = await start({ store, gatekeeper: { ...options, acquirer: 'app1' } });
    const away = scripted(store);
    const other = await start({ store: away.definition, gatekeeper: { ...options, acquirer: LONG_NAME } });
    await gatekeeper.tryAcquire('mailing');
    await other.gatekeeper.tryAcquire('nightly');
    const { page } = await visit(url, { token: TOKENS.view, at: '/work' });
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row('nightly')
      .getByText(/^app2-x+ ·/)
      .waitFor();
    away.store.script = () => Promise.reject(new StoreUnavailableError('away'));
    // Not in the warning, whose end may be cut.
    const mark = row('nightly').getByText(UNHEARD, { exact: true });
    await mark.waitFor({ timeout: 30_000 });
    const [box, cell] = [await mark.boundingBox(), await row('nightly').locator('.cell-held').boundingBox()];
    expect(box!.x + box!.width).toBeLessThanOrEqual(cell!.x + cell!.width);
    expect(await row('mailing').getByText(UNHEARD).count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Needs attention' }).click();
    await page.getByText('1 of 2 semaphores').waitFor();
    await page.getByRole('link', { name: 'nightly' }).click();
    const holders = page.getByRole('list', { name: 'Holders' });
    await holders.getByRole('listitem').filter({ hasText: 'app2' }).getByText(UNHEARD).waitFor();
    expect(await violations(page)).toEqual([]);
    away.store.script = undefined;
    await gone(holders.getByText(UNHEARD));
  });
});
