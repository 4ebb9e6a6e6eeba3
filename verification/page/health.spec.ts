import type { Page } from 'playwright-core';
import { TOKENS } from '../../test/console/consoles.js';
import { LOST, failingStore } from '../../test/console/failing-store.js';
import { violations } from './axe.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, useBrowser } from './chromium.js';

/** px that a line of the head may take from the screen of a phone. */
const ONE_LINE = 44;
const PAGES = ['work', 'work/nightly', 'runs', 'nodes', 'changes', 'operate', 'operate/move', 'health'];

describeInBrowser('the console of a node whose store is away', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();
  const startFailing = async () => {
    const store = failingStore();
    const definitions = ['nightly', 'report', 'mailing'].map((name) => ({ name, duration: '1m' }));
    const console = await start({ store: store.definition, gatekeeper: { definitions, clockTolerance: 500 } });
    return { ...console, store };
  };
  const strip = (page: Page) => page.getByRole('banner').getByRole('alert');
  const tellsOfLoss = (page: Page) => strip(page).filter({ hasText: LOST }).waitFor();

  it.each(['light', 'dark'] as const)(
    'says so in red on every page within 10 s, and never shows "Live", in %s',
    async (colorScheme) => {
      const { url, store } = await startFailing();
      const { page } = await visit(url, { token: TOKENS.define, colorScheme });
      await page.getByRole('banner').getByText('Live').waitFor();
      await page.getByRole('link', { name: 'nightly' }).waitFor();
      expect(await strip(page).textContent()).toBe('');
      store.takeAway();
      const begun = performance.now();
      await tellsOfLoss(page);
      expect(performance.now() - begun).toBeLessThan(10_000);
      expect(await strip(page).textContent()).toMatch(
        new RegExp(`^Nothing is granted: the store can't be reachedSince .+: .*${LOST}.*\\. The data are as of .+\\.$`),
      );
      await page.getByText('Not current: semaphores').waitFor();
      const attention = page.getByRole('button', { name: 'Needs attention' });
      expect(await attention.textContent()).toBe('Needs attention ?');
      for (const at of PAGES) {
        await page.goto(`${url}/#/${at}`);
        await tellsOfLoss(page);
        await page.getByRole('banner').getByText('Stale').waitFor();
        expect(await page.getByRole('banner').getByText('Live').count()).toBe(0);
        expect({ at, violations: await violations(page) }).toEqual({ at, violations: [] });
      }
      await page.goto(`${url}/#/work/nightly`);
      await page.getByText('The runs can’t be read now.').waitFor();
      store.giveBack();
      await page.getByRole('banner').getByText('Live').waitFor();
      expect(await strip(page).textContent()).toBe('');
    },
  );

  it('tells a lost quorum from a lost store', async () => {
    const { url, store } = await startFailing();
    const { page } = await visit(url, { token: TOKENS.view });
    await page.getByRole('link', { name: 'nightly' }).waitFor();
    store.loseQuorum();
    await strip(page)
      .filter({ hasText: /\b1 of .* 2 members/ })
      .waitFor();
    await page.getByRole('banner').getByText('No grants').waitFor();
    store.giveBack();
  });

  it('says of a bulk change that nothing was done, and why', async () => {
    const { url } = await startFailing();
    const { page } = await visit(url, { token: TOKENS.define, at: '/operate' });
    for (const [names, why] of [
      ['typo.*', /Nothing was paused: .*"typo\.\*"/],
      ['(', /Nothing was paused: .*names/],
    ] as const) {
      await page.getByLabel('Names of semaphores').fill(names);
      await page.getByRole('button', { name: 'Pause…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('region', { name: 'Progress' }).getByText(why).waitFor();
      expect(await page.getByRole('region', { name: 'Progress' }).textContent()).not.toContain('Done');
    }
  });

  it('fits a screen of 360 px', async () => {
    const { url, store } = await startFailing();
    const { page } = await visit(url, { token: TOKENS.view, viewport: { width: 360, height: 740 } });
    store.takeAway();
    await tellsOfLoss(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect((await strip(page).boundingBox())!.height).toBeLessThanOrEqual(ONE_LINE);
    expect(await strip(page).getByText(LOST).isVisible()).toBe(false);
    await strip(page).getByText('Nothing is granted').click();
    await strip(page).getByText(LOST).waitFor();
    store.giveBack();
  });
});
