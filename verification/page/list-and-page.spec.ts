import { isDeepStrictEqual } from 'node:util';
import { memory } from 'nestjs-gatekeeper';
import type { Locator, Page } from 'playwright-core';
import { until } from '../../test/support/apps.js';
import { TOKENS } from '../../test/console/consoles.js';
import { DEFINITIONS, Scene } from './scene/scene.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, useBrowser } from './chromium.js';

/** ms: the list and the page are not loaded at the same time, and the most frequent job runs every 2 min. */
const LATER = 125_000;

describeInBrowser('the list of work and the page of each semaphore', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();
  const scenes: Scene[] = [];
  afterEach(() => Promise.all(scenes.splice(0).map((scene) => scene.close())));

  it('agree on the state, the next run and the warnings', async () => {
    const store = memory();
    const scene = new Scene(store);
    scenes.push(scene);
    await scene.play(Date.now());
    const { url, gatekeeper } = await start({ store, gatekeeper: { definitions: DEFINITIONS, group: 'production' } });
    const by = { by: 'ann' };
    await gatekeeper.definitions.edit('invoice-run', { permits: 0 }, by);
    await gatekeeper.definitions.pause('exchange-rates', by);
    // Failed once, and well since.
    const asJob = { job: 'CleanupJob.run', atLeastFor: 0 };
    const flaky = () => Promise.reject(new Error('flaky'));
    const isRun = (work: () => unknown) =>
      gatekeeper.run('session-cleanup', work, asJob).then(({ executed }) => executed);
    // A node that has just started may not be granted a permit at once.
    await until(() => isRun(flaky).catch(() => true));
    await until(() => isRun(() => undefined));
    // The past of jobs is written every few seconds, and read as seldom.
    const warnings = async () => (await gatekeeper.overview('session-cleanup')).semaphores[0]!.warnings;
    await until(async () => (await warnings()).some(({ code }) => code === 'run-failed'), 40_000);
    const { page } = await visit(url, { token: TOKENS.view, at: '/work' });
    const shown: Record<string, Facts> = {};
    for (const { name } of DEFINITIONS) {
      // A warning may become due between the two looks.
      const first = await look(page, url, name);
      const { ofList, ofPage } = isSame(first) ? first : await look(page, url, name);
      expect({ name, ...ofPage, next: undefined }).toEqual({ name, ...ofList, next: undefined });
      expect({ name, isDue: ofPage.next !== undefined }).toEqual({ name, isDue: ofList.next !== undefined });
      expect(Math.abs((ofPage.next ?? 0) - (ofList.next ?? 0))).toBeLessThanOrEqual(LATER);
      shown[name] = ofList;
    }
    expect(shown['billing-close']).toMatchObject({ states: ['paused'], next: undefined });
    expect(shown['exchange-rates']).toMatchObject({ states: ['paused'], next: undefined });
    expect(shown['invoice-run']).toMatchObject({ states: expect.arrayContaining(['paused']), next: undefined });
    expect(shown['stock-sync']!.warnings).toContain('match');
    expect(shown['session-cleanup']!.warnings).toMatch(/CleanupJob\.run failed/);
    // Its permit is held, and no run goes on under it: a permit alone is no run.
    const reindex = { states: ['held'], next: expect.any(Number), warnings: expect.stringContaining('did not run') };
    expect(shown['search-reindex']).toMatchObject(reindex);

    await page.goto(`${url}/#/work?show=attention`);
    await page.getByRole('link', { name: 'session-cleanup' }).waitFor();
    expect(await page.getByRole('row', { name: /session-cleanup/ }).innerText()).toContain('ok');
  });
});

interface Facts {
  readonly states: readonly string[];
  /** ms since the epoch. */
  readonly next: number | undefined;
  readonly warnings: string;
}

interface Looks {
  readonly ofList: Facts;
  readonly ofPage: Facts;
}

/** The facts that the list shows of a semaphore, and those on its page. */
async function look(page: Page, url: string, name: string): Promise<Looks> {
  await page.goto(`${url}/#/work?search=${name}`);
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
  await row.waitFor();
  const ofList = await factsOf(row, '.cell-next time');
  await page.goto(`${url}/#/work/${name}`);
  const summary = page.getByRole('region', { name: 'State' });
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  await summary.waitFor();
  return { ofList, ofPage: await factsOf(summary, '.next time') };
}

function isSame({ ofList, ofPage }: Looks): boolean {
  return isDeepStrictEqual({ ...ofList, next: undefined }, { ...ofPage, next: undefined });
}

async function factsOf(place: Locator, next: string): Promise<Facts> {
  const attention = await place.locator('.attention').allInnerTexts();
  const due = place.locator(next);
  const at = (await due.count()) > 0 ? Date.parse((await due.getAttribute('datetime'))!) : undefined;
  return {
    states: await place
      .locator('.badge')
      .filter({ hasText: /^(?!ok|failed|lost|crashed)/ })
      .allInnerTexts(),
    next: at,
    // Lines break elsewhere in the two places.
    warnings: attention.join(' ').replace(/\s+/g, ' ').trim(),
  };
}
