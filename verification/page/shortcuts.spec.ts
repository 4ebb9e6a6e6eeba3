import type { Page } from 'playwright-core';
import { until } from '../../test/support/apps.js';
import { TOKENS } from '../../test/console/consoles.js';
import { crowdOf } from '../../test/console/scene/crowd.js';
import { violations } from './axe.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, gone, useBrowser } from './chromium.js';

describeInBrowser('keyboard shortcuts', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();
  const list = async (count = 5, options: object = {}) => {
    const { url } = await start({ gatekeeper: { definitions: crowdOf(count) } });
    const { page } = await visit(url, { token: TOKENS.operate, at: '/work', ...options });
    await page.locator('tbody a.name').first().waitFor();
    return page;
  };

  it.each([
    ['r', 'Runs'],
    ['n', 'Nodes'],
    ['c', 'Changes'],
    ['o', 'Operate'],
    ['h', 'Health'],
    ['w', 'Work'],
  ])('go to a page: g, then %s', async (key, title) => {
    const page = await list();
    await page.goto(page.url().replace(/#.*/, key === 'w' ? '#/nodes' : '#/work'));
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
  });

  it('go from row to row through a long list, and choose and open a row', async () => {
    const page = await list(300);
    for (let presses = 0; presses < 60; presses++) await page.keyboard.press('j');
    await until(async () => (await focused(page)) === 'billing-0297');
    await page.keyboard.press('k');
    expect(await focused(page)).toBe('billing-0287');
    await page.keyboard.press('x');
    await page.getByText('1 semaphore chosen').waitFor();
    await page.keyboard.press('x');
    await gone(page.getByText('1 semaphore chosen'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'billing-0287' }).waitFor();
  });

  it('go to the search, and are letters there', async () => {
    const page = await list();
    await page.keyboard.press('/');
    await page.keyboard.type('gnj/?x');
    expect(await page.getByLabel('Search semaphores').inputValue()).toBe('gnj/?x');
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Work');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('leave the combinations of the browser alone, and do nothing behind a dialog', async () => {
    const page = await list();
    await page.keyboard.press('Control+j');
    await page.keyboard.press('Alt+j');
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true);
    await page.getByLabel('Choose invoices-0000').check();
    await page.getByRole('button', { name: 'Pause…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).focus();
    for (const key of ['g', 'n', 'j', '?']) await page.keyboard.press(key);
    expect(await focused(page)).toBe('Cancel');
    expect(await page.getByRole('dialog').count()).toBe(1);
  });

  it('are shown by “?”, can be turned off, and stay off', async () => {
    const page = await list();
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    expect(await dialog.innerText()).toMatch(/g then n\s+Go to Nodes/);
    await dialog.getByLabel('Use these keys').uncheck();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.reload();
    await page.getByRole('link', { name: 'invoices-0000' }).waitFor();
    for (const key of ['?', 'j', 'g', 'n']) await page.keyboard.press(key);
    expect(await dialog.count()).toBe(0);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Work');
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true);

    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await dialog.getByLabel('Use these keys').check();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('j');
    expect(await focused(page)).toBe('cleanup-0004');
  });

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 320],
  ] as const)('have a dialog without a fault that axe finds, in %s, %i px wide', async (colorScheme, width) => {
    const page = await list(5, { colorScheme, viewport: { width, height: 844 } });
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await page.getByRole('dialog').waitFor();
    const { PICTURES } = process.env;
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/keys-${colorScheme}-${width}.png` });
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  });
});

/** Text of the focused element. */
async function focused(page: Page): Promise<string> {
  return String(await page.evaluate('document.activeElement.textContent'));
}
