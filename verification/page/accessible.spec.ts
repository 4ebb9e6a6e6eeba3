import { memory } from 'nestjs-gatekeeper';
import { until } from '../../test/support/apps.js';
import { cardsOf, publishCards } from '../../test/console/scene/cards.js';
import { TOKENS } from '../../test/console/consoles.js';
import { violations } from './axe.js';
import { useConsolesWithPage } from './built-page.js';
import { DEFINITIONS, Scene } from './scene/scene.js';
import { describeInBrowser, gone, useBrowser } from './chromium.js';

const PAGES = [
  'work',
  'work/nightly-export',
  'work/leader:mailbox',
  'runs',
  'runs/next',
  'nodes',
  'changes',
  'operate',
  'operate/move',
  'health',
  'nowhere',
];

describeInBrowser('the console', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();
  const scenes: Scene[] = [];
  afterEach(() => Promise.all(scenes.splice(0).map((scene) => scene.close())));
  const startScene = async () => {
    const store = memory();
    const scene = new Scene(store);
    scenes.push(scene);
    await scene.play(Date.now());
    return start({ store, gatekeeper: { definitions: DEFINITIONS, group: 'production' } });
  };

  it.each(['light', 'dark'] as const)('has no fault that axe finds, on any page, in %s', async (colorScheme) => {
    const { url, gatekeeper } = await startScene();
    await gatekeeper.definitions.define({ name: 'by-hand', duration: '5m' });
    const login = await visit(url, { colorScheme });
    expect(await violations(login.page)).toEqual([]);
    const { page } = await visit(url, { colorScheme, token: TOKENS.define });
    for (const at of PAGES) {
      await page.goto(`${url}/#/${at}`);
      await gone(page.getByText('Loading…'));
      expect({ at, violations: await violations(page) }).toEqual({ at, violations: [] });
    }
    await page.goto(`${url}/#/runs?show=failed`);
    await page.getByTitle('Page of this run').first().click();
    await page.getByRole('region', { name: 'Error' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.goto(`${url}/#/work/nightly-export`);
    await page.getByRole('group', { name: /^Timeline with/ }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.locator('.tip').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Permits', { exact: true }).fill('-1');
    await page.locator('.field.faulty').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.goto(`${url}/#/work/by-hand`);
    await page.getByRole('button', { name: 'Remove' }).click();
    expect(await violations(page)).toEqual([]);
  });

  it('shows when jobs are due in the next 24 hours, and which of them will not run', async () => {
    const { url } = await startScene();
    const { page, complaints } = await visit(url, { token: TOKENS.view, at: '/runs/next' });
    const lane = (name: string) => page.getByRole('row').filter({ hasText: name });
    await lane('report-archive').locator('.due-mark').nth(3).waitFor();
    expect(await lane('report-archive').locator('.due-mark').count()).toBe(4);
    expect(await lane('report-archive').innerText()).toContain('0 */6 * * * UTC');
    expect(await lane('session-cleanup').locator('.due-bar').count()).toBe(1);
    await lane('stock-sync').getByText('no node').waitFor();
    await page.getByLabel('Search work, job').fill('archive');
    await page.getByText('1 of 8 jobs').waitFor();
    expect(complaints).toEqual([]);
  });

  it('never shows a next run that is over', async () => {
    const store = memory();
    const next = Date.now() + 4000;
    const schedule = { kind: 'interval' as const, expression: '1800000', next, interval: 1_800_000 };
    await publishCards(store.open(), cardsOf(1, Date.now(), [{ job: 'Jobs.run', semaphore: 'nightly', schedule }]));
    const { url } = await start({ store, gatekeeper: { definitions: [{ name: 'nightly', duration: '1m' }] } });
    const { page } = await visit(url, { token: TOKENS.view, at: '/runs/next' });
    const due = page.getByRole('row').filter({ hasText: 'Jobs.run' }).locator('time');
    const shown = new Set<string>();
    await until(async () => {
      shown.add(await due.innerText());
      return Date.now() > next && (await due.innerText()).includes('30 min');
    });
    expect([...shown].filter((each) => each.endsWith('ago'))).toEqual([]);
  });

  it('shows times as distances, in the zone of the browser, or in UTC, and always names the zone', async () => {
    const { url } = await startScene();
    const { page } = await visit(url, {
      token: TOKENS.define,
      at: '/work',
      timezoneId: 'Asia/Tokyo',
      locale: 'ar-EG',
    });
    const first = page.locator('.cell-last time').first();
    await first.waitFor();
    expect(await first.getAttribute('title')).toMatch(/[0-9]{2}:[0-9]{2}:[0-9]{2}.*غرينتش\+9/);
    await page.getByLabel('Times').selectOption('UTC');
    await page
      .getByText(/[0-9]{2}:[0-9]{2}:[0-9]{2}.*UTC/)
      .first()
      .waitFor();
    expect(await first.getAttribute('title')).toMatch(/ago$|^now$/);
    await page.reload();
    await page
      .getByText(/[0-9]{2}:[0-9]{2}:[0-9]{2}.*UTC/)
      .first()
      .waitFor();
    await page.getByLabel('Times').selectOption('local');
    await page
      .getByText(/غرينتش\+9/)
      .first()
      .waitFor();
    // One script of digits: durations and tokens have no other.
    expect(await page.locator('main').innerText()).not.toMatch(/[٠-٩]/);
  });

  it.each([
    'work',
    'work/nightly-export',
    'work/leader:mailbox',
    'runs',
    'runs/next',
    'nodes',
    'operate/move',
    'changes',
    'health',
  ])('fits a screen of 360 px: %s', async (at) => {
    const { url } = await startScene();
    const viewport = { width: 360, height: 740 };
    const { page } = await visit(url, { token: TOKENS.define, at: `/${at}`, viewport });
    await gone(page.getByText('Loading…'));
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(await violations(page)).toEqual([]);
  });

  it('keeps the theme that was chosen', async () => {
    const { url } = await start();
    const { page } = await visit(url, { token: TOKENS.view, colorScheme: 'light' });
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await ground();
    await page.getByRole('button', { name: 'Theme: system' }).click();
    await page.getByRole('button', { name: 'Theme: light' }).click();
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
    expect(await ground()).not.toBe(light);
    await page.reload();
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
    expect(await ground()).not.toBe(light);
  });
});
