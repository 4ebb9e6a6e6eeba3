import { Gatekeeper, memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { until } from '../../test/support/apps.js';
import { SETTINGS, TOKENS } from '../../test/console/consoles.js';
import { cardsOf, publishCards } from '../../test/console/scene/cards.js';
import { violations } from './axe.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, useBrowser } from './chromium.js';

const LONG = 'connect ETIMEDOUT 10.0.9.14:5432 while the export of all customers was written to the archive';

/** Waits for a signal. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

describeInBrowser('the runs in the console', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();

  /** A job that failed, and one that ran well since. */
  async function boot() {
    const store = memory();
    const console = await start({
      store,
      console: { ...SETTINGS, logsUrl: 'https://logs.example.com/?q={job}&node={acquirer}' },
      gatekeeper: { definitions: ['nightly-export', 'mailing'].map((name) => ({ name, duration: '1m' })) },
    });
    const { gatekeeper, get } = console;
    const fail = () => Promise.reject(new Error(LONG));
    await gatekeeper.run('nightly-export', fail, { job: 'Jobs.export', atLeastFor: 0 }).catch(() => undefined);
    await gatekeeper.run('mailing', () => undefined, { job: 'Jobs.mail', atLeastFor: 0 });
    await until(async () => (await get('/api/jobs')).json.jobs.length === 2);
    return { ...console, store };
  }

  it('are sorted by the heads of their columns, and the address keeps the order', async () => {
    const { url } = await boot();
    const { page } = await visit(url, { token: TOKENS.view, at: '/runs' });
    await page.getByText('2 runs').waitFor();
    const jobs = () => page.locator('table.plain tbody td code').allInnerTexts();
    expect(await jobs()).toEqual(['Jobs.mail', 'Jobs.export']);
    await page.getByRole('button', { name: 'Job', exact: true }).click();
    expect(await jobs()).toEqual(['Jobs.export', 'Jobs.mail']);
    expect(page.url()).toContain('sort=job');
    await page.getByRole('button', { name: 'When' }).click();
    await page.getByRole('button', { name: 'When' }).click();
    await page.reload();
    await page.getByText('2 runs').waitFor();
    expect(await page.getByRole('columnheader', { name: 'When' }).getAttribute('aria-sort')).toBe('ascending');
    expect(await jobs()).toEqual(['Jobs.export', 'Jobs.mail']);
  });

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
  });

  it.each([1280, 390])(
    'have a page each, with the error, its stack, the permit and the logs, at a width of %i',
    async (width) => {
      const { url } = await boot();
      const { page } = await visit(url, { token: TOKENS.view, viewport: { width, height: 800 } });
      await page.goto(`${url}/#/runs?show=failed`);
      const error = page.getByRole('cell', { name: LONG });
      await error.waitFor();
      const box = (await error.boundingBox())!;
      expect(box.x + box.width).toBeLessThanOrEqual(width);
      await page.getByTitle('Page of this run').click();
      await page.getByRole('heading', { level: 1, name: 'Run of Jobs.export' }).waitFor();
      await page.getByText(/^It failed on app1, after \d+ ms\.$/).waitFor();
      await page
        .getByRole('group', { name: 'Stack of the error' })
        .getByText(/at .*runs\.spec/)
        .waitFor();
      await page
        .getByRole('region', { name: 'Story' })
        .getByText(/^on app1, with slot 0, token \d+$/)
        .waitFor();
      const logs = page.getByRole('link', { name: 'Logs of this run' });
      expect(await logs.getAttribute('href')).toMatch(/^https:\/\/logs\.example\.com\/\?q=Jobs\.export&node=/);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expect(await violations(page)).toEqual([]);
      await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Runs' }).click();
      await error.waitFor();
      expect(page.url()).toMatch(/#\/runs\?show=failed$/);
    },
  );

  it('have an address that opens the same page in a new tab, and when it is pasted', async () => {
    const { url } = await boot();
    const { page } = await visit(url, { token: TOKENS.view, at: '/runs' });
    const link = page.getByRole('row').filter({ hasText: 'Jobs.mail' }).getByTitle('Page of this run');
    await link.waitFor();
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      link.click({ modifiers: ['ControlOrMeta'] }),
    ]);
    await tab.waitForURL(/#\/runs\/of\/mailing\/Jobs\.mail\//);
    const { page: pasted } = await visit(url, { token: TOKENS.view, at: new URL(tab.url()).hash.slice(1) });
    await pasted.getByText(/^It ended well on app1, after \d+ ms\.$/).waitFor();
    await pasted.reload();
    await pasted.getByText('ended well', { exact: true }).waitFor();
  });

  it('that went on show when their permit was renewed, who changed their work meanwhile, and how they lost it', async () => {
    const { url, gatekeeper } = await boot();
    await gatekeeper.definitions.define({ name: 'long', duration: '6s' }, { by: 'ann' });
    const ended = gatekeeper.run('long', ({ signal }) => aborted(signal), { job: 'Jobs.long' });
    const { page } = await visit(url, { token: TOKENS.view, at: '/runs?show=running' });
    await page.getByTitle('Page of this run').click();
    await page.getByText('It runs on app1.').waitFor();
    const story = page.getByRole('region', { name: 'Story' });
    await story.getByText('permit renewed').waitFor();
    await story.getByText('its permit ends, unless it is renewed').waitFor();
    expect(await violations(page)).toEqual([]);
    const [holder] = (await gatekeeper.state()).semaphores.find(({ name }) => name === 'long')!.holders;
    await gatekeeper.definitions.revoke('long', holder!.id, { by: 'ann', reason: 'it hangs' });
    await ended;
    await page.getByText(/^It ended on app1, after .+, without its permit: it was revoked or removed\.$/).waitFor();
    await story.getByText('ann: revoke').waitFor();
    await story.getByText('“it hangs”').waitFor();
    await story.getByText('lost its permit', { exact: true }).waitFor();
    await story.getByText(/its permit was renewed \d+ times?$/).waitFor();
  });

  it('that are no longer known say so, and an address that is none shows no page', async () => {
    const { url } = await boot();
    const { page } = await visit(url, { token: TOKENS.view, at: '/runs/of/mailing/Jobs.mail/gone/1' });
    await page.getByText('This run is no longer known.').waitFor();
    await page.goto(`${url}/#/runs/of/mailing/Jobs.mail/gone/soon`);
    await page.getByText('This console has no such page.').waitFor();
  });

  it('have a chart per job with a table behind it', async () => {
    const { url } = await boot();
    const { page } = await visit(url, { token: TOKENS.view });
    await page.goto(`${url}/#/work/nightly-export`);
    const panel = page.getByRole('region', { name: 'Days of Jobs.export' });
    await panel.getByRole('img', { name: 'Outcomes of Jobs.export by day: 0 of 1 runs ended well' }).waitFor();
    await panel.getByText('Numbers of each day').click();
    const today = new Date().toISOString().slice(0, 10);
    expect(await panel.getByRole('row').last().textContent()).toBe(`${today}0100`);
    await page.getByText(/Jobs\.export failed .* on app1: /).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it('have marks in the chart of their job for changes and for deploys', async () => {
    const { url, gatekeeper, store } = await boot();
    await gatekeeper.definitions.edit('nightly-export', { permits: 2 }, { by: 'ann', reason: 'more room' });
    const jobs = [{ job: 'Jobs.export', semaphore: 'nightly-export' }];
    const ofFormer = { store, version: '4.16.0', acquirer: 'former', history: true, definitionsDelay: 0 };
    const former = new Gatekeeper(parseGatekeeperOptions(ofFormer), { log() {}, warn() {}, error() {}, debug() {} });
    await former.start();
    await former.run('nightly-export', () => undefined, { job: 'Jobs.export', atLeastFor: 0 });
    await former.close();
    const opened = store.open();
    await publishCards(opened, cardsOf(7, Date.now(), jobs));
    await opened.close();
    const { page } = await visit(url, { token: TOKENS.view, at: '/work/nightly-export' });
    const panel = page.getByRole('region', { name: 'Days of Jobs.export' });
    const summary = panel.getByText('1 change and 3 deploys');
    await summary.waitFor();
    expect(await panel.locator('svg').first().locator('line.change').count()).toBe(1);
    expect(await panel.locator('svg').first().locator('line.deploy').count()).toBe(3);
    await summary.click();
    await panel.getByRole('row', { name: /change ann: edit “more room”$/ }).waitFor();
    await panel.getByRole('row', { name: /deploy first run of 4\.16\.0$/ }).waitFor();
    await panel.getByRole('row', { name: /deploy 4\.17\.2 on 6 nodes$/ }).waitFor();
    await panel.getByRole('row', { name: /deploy 4\.18\.0-rc\.1 on 1 node$/ }).waitFor();
    expect(await violations(page)).toEqual([]);
  });
});
