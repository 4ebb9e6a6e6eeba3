import { memory } from 'nestjs-gatekeeper';
import type { Page } from 'playwright-core';
import { timeOf } from '../../lib/core/context/context.js';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { until } from '../../test/support/apps.js';
import { TOKENS } from '../../test/console/consoles.js';
import { violations } from './axe.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, useBrowser } from './chromium.js';

const IS_FOCUSED = "document.activeElement.matches('.timeline')";

describeInBrowser('the timeline of a semaphore', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();

  /** A failed run, a skip on another node, and a change. */
  async function boot() {
    const store = memory();
    const definitions = [{ name: 'nightly', duration: '1m' }];
    const console = await start({ store, gatekeeper: { definitions, acquirer: 'app1' } });
    const other = await start({ store, gatekeeper: { definitions, acquirer: 'app2' } });
    const fail = () => Promise.reject(new Error('disk full'));
    await console.gatekeeper.run('nightly', fail, { job: 'Jobs.export', atLeastFor: 0 }).catch(() => undefined);
    const permit = await console.gatekeeper.tryAcquire('nightly');
    await other.gatekeeper.run('nightly', () => undefined, { job: 'Jobs.export' });
    await permit!.release();
    // Each node gives times by its own reading of the cluster's clock: the change must be the last one by both.
    await until(async () => {
      const { entries } = (await console.get('/api/history?semaphore=nightly')).json;
      const skip = entries.find(({ kind }: { kind: string }) => kind === 'skip');
      return skip !== undefined && timeOf(partsOf(console.gatekeeper).context) > skip.at;
    });
    await console.gatekeeper.definitions.edit('nightly', { permits: 2 }, { by: 'ann', reason: 'more room' });
    await until(async () => (await console.get('/api/semaphores/nightly')).json.runs?.length === 2);
    return console;
  }
  const timeline = (page: Page) =>
    page.getByRole('group', { name: /^Timeline with 1 run, 1 skip, 1 change and 0 permits/ });
  const announced = (page: Page) => page.locator('.timeline-frame [role="status"]');

  it('has its runs, skips and changes, and the keyboard goes through them', async () => {
    const { url } = await boot();
    const { page, complaints } = await visit(url, { token: TOKENS.view, at: '/work/nightly' });
    await timeline(page).waitFor();
    await page.getByRole('link', { name: 'All work' }).focus();
    for (let tabs = 0; tabs < 20 && !(await page.evaluate(IS_FOCUSED)); tabs++) await page.keyboard.press('Tab');
    await page.locator('.tip').getByText('ann: edit').waitFor();
    await page.locator('.tip').getByText('“more room”').waitFor();
    expect(await announced(page).textContent()).toMatch(/^ann: edit\. .+\. “more room”$/);
    await page.keyboard.press('ArrowLeft');
    await page.locator('.tip').getByText('Jobs.export skipped on app2').waitFor();
    await page.locator('.tip').getByText('no-permit').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Home');
    await page.locator('.tip').getByText('Jobs.export on app1: failed').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.tip').waitFor({ state: 'detached' });
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Run of Jobs.export' }).waitFor();
    await page.getByText('disk full', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('says what the mouse points at, and a click opens the page of a run', async () => {
    const { url } = await boot();
    const { page } = await visit(url, { token: TOKENS.view, at: '/work/nightly' });
    const box = (await timeline(page).locator('.u-over').boundingBox())!;
    const tip = page.locator('.tip');
    // From the right: now, then the change, and the run and the skip in their lanes.
    const find = async (text: string, y: number) => {
      for (let x = box.width - 2; x > 0; x -= 2) {
        await page.mouse.move(box.x + x, box.y + y);
        if ((await tip.count()) > 0 && (await tip.innerText()).includes(text)) return;
      }
      throw new Error(`no mark says "${text}"`);
    };
    await find('ann: edit', 2);
    expect(await announced(page).textContent()).toBe('');
    await find('Jobs.export skipped on app2', (box.height * 3) / 4);
    await find('Jobs.export on app1: failed', box.height / 4);
    const shown = (await tip.boundingBox())!;
    expect(shown.x + shown.width).toBeLessThanOrEqual(1280);
    await page.mouse.down();
    await page.mouse.up();
    await page.getByRole('heading', { level: 1, name: 'Run of Jobs.export' }).waitFor();
  });
});
