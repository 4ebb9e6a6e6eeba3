import { expect, it } from '@jest/globals';
import { memory } from 'nestjs-gatekeeper';
import { until } from '../../support/apps.js';
import { SETTINGS, TOKENS } from '../consoles.js';
import { violations } from './axe.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, useBrowser } from './chromium.js';

const LONG = 'connect ETIMEDOUT 10.0.9.14:5432 while the export of all customers was written to the archive';

describeInBrowser('the runs in the console', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();

  /** A job that failed, and one that ran well since. */
  async function boot() {
    const console = await start({
      store: memory(),
      console: { ...SETTINGS, logsUrl: 'https://logs.example.com/?q={job}&node={acquirer}' },
      gatekeeper: { definitions: ['nightly-export', 'mailing'].map((name) => ({ name, duration: '1m' })) },
    });
    const { gatekeeper, get } = console;
    const fail = () => Promise.reject(new Error(LONG));
    await gatekeeper.run('nightly-export', fail, { job: 'Jobs.export', atLeastFor: 0 }).catch(() => undefined);
    await gatekeeper.run('mailing', () => undefined, { job: 'Jobs.mail', atLeastFor: 0 });
    await until(async () => (await get('/api/jobs')).json.jobs.length === 2);
    return console;
  }

  it('are filtered by kind, time and job, and the address keeps the filters', async () => {
    const { url } = await boot();
    const { page } = await visit(url, { token: TOKENS.view });
    await page.goto(`${url}/#/runs`);
    await page.getByText('2 runs').waitFor();
    await page.getByRole('button', { name: 'Failed' }).click();
    await page.getByText('1 run', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Period' }).selectOption('Last day');
    await page.getByRole('combobox', { name: 'Job' }).selectOption('Jobs.mail');
    await page.getByText('Nothing matches.').waitFor();
    expect(page.url()).toMatch(/#\/runs\?show=failed&since=1d&job=Jobs\.mail$/);
    await page.reload();
    await page.getByText('Nothing matches.').waitFor();
    expect(await page.getByRole('button', { name: 'Failed' }).getAttribute('aria-pressed')).toBe('true');
    await page.getByRole('combobox', { name: 'Job' }).selectOption('All jobs');
    await page.getByText(LONG).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('runs.csv');
    expect(await violations(page)).toEqual([]);
  }, 60_000);

  it.each([1280, 390])(
    'show the error of a run, its stack and its logs at a width of %i',
    async (width) => {
      const { url } = await boot();
      const { page } = await visit(url, { token: TOKENS.view });
      await page.setViewportSize({ width, height: 800 });
      await page.goto(`${url}/#/runs?show=failed`);
      const error = page.getByRole('cell', { name: LONG });
      await error.waitFor();
      const box = (await error.boundingBox())!;
      expect(box.x + box.width).toBeLessThanOrEqual(width);
      await page.getByTitle('Details of this run').click();
      const dialog = page.getByRole('dialog', { name: 'Run of Jobs.export' });
      await dialog.getByText(/at .*runs\.spec/).waitFor();
      const logs = dialog.getByRole('link', { name: 'Logs of this run' });
      expect(await logs.getAttribute('href')).toMatch(/^https:\/\/logs\.example\.com\/\?q=Jobs\.export&node=/);
      expect(await violations(page)).toEqual([]);
      await page.reload();
      await dialog.getByText('failed').waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(page.url()).toMatch(/#\/runs\?show=failed$/);
    },
    60_000,
  );

  it('have a chart per job with a table behind it', async () => {
    const { url } = await boot();
    const { page } = await visit(url, { token: TOKENS.view });
    await page.goto(`${url}/#/work/nightly-export`);
    const panel = page.getByRole('region', { name: 'Days of Jobs.export' });
    await panel.getByRole('img', { name: 'Outcomes of Jobs.export by day: 0 of 1 runs ended well' }).waitFor();
    await panel.getByText('Numbers of each day').click();
    const today = new Date().toISOString().slice(0, 10);
    expect(await panel.getByRole('row').last().textContent()).toBe(`${today}0100`);
    await page.getByText(/Jobs\.export failed once in the last day/).waitFor();
    expect(await violations(page)).toEqual([]);
  }, 60_000);
});
