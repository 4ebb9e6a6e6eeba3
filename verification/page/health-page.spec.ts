import type { Page } from 'playwright-core';
import { Receiver } from '../../test/operate/alerts/receiver.js';
import { TOKENS } from '../../test/console/consoles.js';
import { failingStore } from '../../test/console/failing-store.js';
import { violations } from './axe.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, useBrowser } from './chromium.js';
import { partsOf } from '../../lib/gatekeeper/parts.js';

const SEND = { name: 'Send a test' };
const PHONE = { width: 390, height: 844 };

describeInBrowser('the page Health', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();
  const startWith = async (options = {}) => {
    const store = failingStore();
    const definitions = [{ name: 'nightly', duration: '1m' }];
    const gatekeeper = { definitions, clockTolerance: 500, ...options };
    return { ...(await start({ store: store.definition, gatekeeper })), store };
  };
  const panel = (page: Page, name: string) => page.getByRole('region', { name });
  const icon = (page: Page) => page.locator('link[rel="icon"]').getAttribute('href');
  const picture = async (page: Page, name: string) => {
    const folder = process.env['HEALTH_PICTURES'];
    if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  };

  it.each(['light', 'dark'] as const)(
    'shows the facts of a calm time, and fits a phone, in %s',
    async (colorScheme) => {
      const { url } = await startWith();
      // The list of the work reads the journals.
      const { page, complaints } = await visit(url, { token: TOKENS.view, at: '/work', colorScheme });
      await page.getByRole('link', { name: 'nightly' }).waitFor();
      await page.goto(`${url}/#/health`);
      const line = page
        .getByRole('banner')
        .getByRole('link', { name: /^Store 1 member, .* ms, clocks ±.* ms, 1 node, journals ok$/ });
      await line.waitFor();
      await panel(page, 'Store').getByText('connected', { exact: true }).waitFor();
      await panel(page, 'Clocks').getByText('trusted').waitFor();
      await panel(page, 'Cluster').getByText('current').waitFor();
      await panel(page, 'Calls to the store').getByText('Writes of one record').waitFor();
      await panel(page, 'Alerts').getByText('This node sends no alerts.').waitFor();
      expect(await page.title()).toBe('Health · Gatekeeper');
      expect(await violations(page)).toEqual([]);
      await picture(page, `calm-${colorScheme}`);
      await page.setViewportSize(PHONE);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      expect(await violations(page)).toEqual([]);
      await picture(page, `calm-${colorScheme}-phone`);
      expect(complaints).toEqual([]);
    },
  );

  it('says on each page how many members there are of how many, and stands out if one is missing', async () => {
    const { url, store } = await startWith();
    store.seeMembers(3, 3);
    const { page } = await visit(url, { token: TOKENS.view, at: '/work' });
    const line = page.getByRole('banner').getByRole('link', { name: /^Store/ });
    await page
      .getByRole('banner')
      .getByText(/^Store 3\/3 members, quorum 2, /)
      .waitFor();
    expect(await page.locator('.health-line.short').count()).toBe(0);
    store.seeMembers(2, 3);
    await page
      .getByRole('banner')
      .getByText(/^Store 2\/3 members, quorum 2, /)
      .waitFor();
    expect(await page.locator('.health-line.short').count()).toBe(1);
    expect(await violations(page)).toEqual([]);
    await line.click();
    await panel(page, 'Store').getByText('2 of 3', { exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it.each(['light', 'dark'] as const)(
    'says what fails since when, also in the title and icon of the tab, in %s',
    async (colorScheme) => {
      const { url, store } = await startWith();
      const { page } = await visit(url, { token: TOKENS.view, at: '/health', colorScheme });
      await panel(page, 'Store').getByText('connected', { exact: true }).waitFor();
      const usual = await icon(page);
      store.takeAway();
      await panel(page, 'Faults').getByText('store-unreachable').waitFor();
      await panel(page, 'Store').getByText('not connected').waitFor();
      await panel(page, 'Cluster').getByText('stale').waitFor();
      await panel(page, 'Calls to the store').getByText('failing').first().waitFor();
      expect(await page.title()).toBe('No grants · Health · Gatekeeper');
      expect(await icon(page)).toMatch(/^data:image\/svg/);
      expect(await page.getByRole('banner').locator('.health-line').count()).toBe(0);
      expect(await violations(page)).toEqual([]);
      await picture(page, `down-${colorScheme}`);
      await page.setViewportSize(PHONE);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      await picture(page, `down-${colorScheme}-phone`);
      store.giveBack();
      await panel(page, 'Cluster').getByText('current').waitFor();
      expect(await page.title()).toBe('Health · Gatekeeper');
      expect(await icon(page)).toBe(usual);
    },
  );

  it.each(['light', 'dark'] as const)(
    'lists a job that did not run, with a link to its page, while the state stays healthy, in %s',
    async (colorScheme) => {
      const { url, gatekeeper } = await startWith();
      const { health } = partsOf(gatekeeper);
      const check = health.check.bind(health);
      const sentence = 'Jobs.nightly was due 2026-11-25 03:00:00 UTC and did not run: no run of it is known';
      const warnings = [{ code: 'not-run' as const, semaphore: 'nightly', since: Date.now(), sentence }];
      health.check = async (request) => ({ ...(await check(request)), warnings });
      const { page, complaints } = await visit(url, { token: TOKENS.view, at: '/health', colorScheme });
      await panel(page, 'Warnings').getByText(sentence).waitFor();
      await page.getByText('healthy', { exact: true }).waitFor();
      expect(await panel(page, 'Faults').count()).toBe(0);
      expect(await violations(page)).toEqual([]);
      await picture(page, `warned-${colorScheme}`);
      await page.setViewportSize(PHONE);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      expect(await violations(page)).toEqual([]);
      await picture(page, `warned-${colorScheme}-phone`);
      await panel(page, 'Warnings').getByRole('link', { name: 'nightly' }).click();
      await page.getByRole('heading', { level: 1, name: 'nightly' }).waitFor();
      expect(complaints).toEqual([]);
    },
  );

  it('tests the receivers of alerts, and shows what they answered', async () => {
    await using receiver = await Receiver.start();
    const { url } = await startWith({ alerts: { webhooks: [receiver.webhook] } });
    const { page } = await visit(url, { token: TOKENS.operate, at: '/health' });
    const alerts = panel(page, 'Alerts');
    await alerts.getByText('no request yet').waitFor();
    await alerts.getByRole('button', SEND).click();
    await alerts.getByText('accepted (204)').waitFor();
    await page.getByText('Each receiver has accepted the test.').waitFor();
    receiver.answer = (response) => response.writeHead(500).end();
    await alerts.getByRole('button', SEND).click();
    await alerts.getByText('answered 500').waitFor();
    await page.getByText('The test failed: duty.').waitFor();
    await picture(page, 'receivers');
  });

  it('offers the test only to operators', async () => {
    await using receiver = await Receiver.start();
    const { url } = await startWith({ alerts: { webhooks: [receiver.webhook] } });
    const { page } = await visit(url, { token: TOKENS.view, at: '/health' });
    await panel(page, 'Alerts').getByText('no request yet').waitFor();
    expect(await page.getByRole('button', SEND).count()).toBe(0);
    expect(await page.getByText('This needs the role').count()).toBe(0);
  });
});
