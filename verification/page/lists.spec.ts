import { memory } from 'nestjs-gatekeeper';
import type { Page } from 'playwright-core';
import { until } from '../../test/support/apps.js';
import { type Console, TOKENS } from '../../test/console/consoles.js';
import { cardsOf, publishCards } from '../../test/console/scene/cards.js';
import { crowdOf } from '../../test/console/scene/crowd.js';
import { violations } from './axe.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, useBrowser } from './chromium.js';

describeInBrowser('the order of a list', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();

  it('is that of all rows, not only of those in view, and stays in the address', async () => {
    const { url, gatekeeper } = await start({ gatekeeper: { definitions: crowdOf(300) } });
    const { page } = await visit(url, { token: TOKENS.view });
    await page.getByText('300 semaphores').waitFor();
    for (const name of ['reports-0292', 'sync-0295']) await gatekeeper.acquire(name);
    await page.getByRole('button', { name: 'Held by' }).click();
    // The list may have been read between the two grants: then it is read again.
    const isInOrder = (shown: string[]) => shown.join().startsWith('reports-0292,sync-0295,backup-0006,');
    await until(async () => isInOrder(await names(page)));
    expect(page.url()).toContain('sort=-held');
    expect(await page.getByRole('columnheader', { name: 'Held by' }).getAttribute('aria-sort')).toBe('descending');

    await page.getByRole('button', { name: 'Held by' }).click();
    await until(async () => (await names(page))[0] === 'backup-0006');
    await page.reload();
    await until(async () => (await names(page))[0] === 'backup-0006');
    expect(await page.getByRole('columnheader', { name: 'Held by' }).getAttribute('aria-sort')).toBe('ascending');

    await page.getByLabel('Search semaphores').fill('sync');
    await page.getByRole('button', { name: 'Name', exact: true }).click();
    await page.getByRole('button', { name: 'Name', exact: true }).click();
    await until(async () => (await names(page))[0] === 'sync-0295');
    expect(page.url()).toMatch(/sort=-name&search=sync/);
  });

  it('can be that of any column of the nodes', async () => {
    const store = memory();
    await publishCards(store.open(), cardsOf(6, Date.now()));
    const { url } = await start({ store });
    const { page } = await visit(url, { token: TOKENS.view, at: '/nodes' });
    await page.getByText('7 nodes', { exact: true }).waitFor();
    const nodes = () => page.locator('tbody strong.name').allInnerTexts();
    expect((await nodes()).slice(0, 2)).toEqual(['app1', 'standby-05']);
    await page.getByRole('button', { name: 'Clock' }).click();
    expect((await nodes())[0]).toBe('worker-04');
    await page.getByRole('button', { name: 'Node', exact: true }).click();
    await page.getByRole('button', { name: 'Node', exact: true }).click();
    expect(await nodes()).toEqual([
      'worker-06',
      'worker-04',
      'worker-03',
      'worker-02',
      'worker-01',
      'standby-05',
      'app1',
    ]);
  });

  it('ignores a column that the list does not have', async () => {
    const { url } = await start({ gatekeeper: { definitions: crowdOf(3) } });
    const { page } = await visit(url, { token: TOKENS.view, at: '/work?sort=-__proto__' });
    await page.getByText('3 semaphores').waitFor();
    expect(await names(page)).toEqual(['invoices-0000', 'reindex-0001', 'reports-0002']);
  });
});

describeInBrowser('the list of all changes', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();

  it('says that it has only the newest ones, and loads older ones on demand', async () => {
    const store = memory();
    const { url } = await start({ store });
    await store.open().journal('audit').append(changesOf(600));
    const { page, complaints } = await visit(url, { token: TOKENS.view, at: '/changes?search=billing' });
    await page.getByText('0 of 500 changes: only the newest 500 are shown and searched').waitFor();
    await page.getByRole('button', { name: 'Load 500 older changes' }).click();
    await page.getByText('1 of 600 changes', { exact: true }).waitFor();
    await page.getByRole('row', { name: /mallory.*billing/s }).waitFor();
    expect(page.url()).toMatch(/#\/changes\?search=billing&newest=1000$/);
    expect(await page.getByRole('button', { name: /older changes/ }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});

describeInBrowser('chosen rows', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();
  const choose = (page: Page, name: string) => page.getByLabel(`Choose ${name}`, { exact: true }).check();

  it('are paused and resumed together, exactly these, as one change', async () => {
    const odd = { name: 'a|b (every [1-5].day)', groupPattern: 'default', duration: '1m' };
    const { url, gatekeeper, get } = await start({ gatekeeper: { definitions: [...crowdOf(12), odd] } });
    await gatekeeper.definitions.pause('sync-0005', { by: 'ann' });
    const { page, complaints } = await visit(url, { token: TOKENS.operate });
    for (const name of [odd.name, 'backup-0006', 'sync-0005']) await choose(page, name);
    const panel = page.getByRole('region', { name: 'Chosen semaphores' });
    expect(await panel.innerText()).toContain('3 semaphores chosen');
    await panel.getByRole('button', { name: 'Pause…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Pause 2 semaphores' });
    expect(await dialog.innerText()).toContain(`: ${odd.name}, backup-0006. 1 of the chosen needs no change.`);
    await dialog.getByLabel('Reason').fill('exercise');
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('2 semaphores paused. Done.').waitFor();
    expect(await panel.count()).toBe(0);
    const states = (await get('/api/semaphores')).json.semaphores as { name: string; pause?: { by: string } }[];
    const paused = states.filter(({ pause }) => pause).map(({ name, pause }) => `${name} by ${pause!.by}`);
    expect(paused.toSorted()).toEqual([`${odd.name} by otto`, 'backup-0006 by otto', 'sync-0005 by ann']);
    expect(await changesIn(get, 2)).toBe(1);

    await page.goto(`${url}/#/changes`);
    await page.getByText('2 semaphores', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('are all that the filter shows, also those out of view, in several calls of one change', async () => {
    const { url, gatekeeper, get } = await start({ gatekeeper: { definitions: crowdOf(120) } });
    const { page } = await visit(url, { token: TOKENS.operate, at: '/work?search=i' });
    await page.getByText('60 of 120 semaphores').waitFor();
    await page.getByLabel('Choose all 60 shown').check();
    await page.getByRole('button', { name: 'Pause…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('60 semaphores paused. Done.').waitFor();
    expect((await gatekeeper.definitions.get('mailing-0113'))?.pause).toBeDefined();
    expect((await gatekeeper.definitions.get('sync-0005'))?.pause).toBeUndefined();
    expect(await changesIn(get, 60)).toBe(1);
  });

  it('are only those that the list shows: what a filter hides is not changed', async () => {
    const { url, gatekeeper } = await start({ gatekeeper: { definitions: crowdOf(5) } });
    const { page } = await visit(url, { token: TOKENS.operate });
    await choose(page, 'reports-0002');
    await choose(page, 'mailing-0003');
    await page.getByLabel('Search semaphores').fill('mail');
    await page.getByText('1 semaphore chosen').waitFor();
    await page.getByRole('button', { name: 'Pause…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('1 semaphore paused. Done.').waitFor();
    expect((await gatekeeper.definitions.get('reports-0002'))?.pause).toBeUndefined();
  });

  it('that fail are named with their reasons', async () => {
    const { url, gatekeeper } = await start({ gatekeeper: { definitions: crowdOf(3) } });
    const { page } = await visit(url, { token: TOKENS.operate });
    await choose(page, 'reports-0002');
    await choose(page, 'reindex-0001');
    await page.getByRole('button', { name: 'Pause…' }).click();
    await gatekeeper.definitions.pause('reindex-0001', { by: 'ann' });
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('1 semaphore paused, 1 failed').waitFor();
    expect(await page.getByRole('list', { name: 'Failures' }).innerText()).toBe(
      'reindex-0001: is paused already, or has no definition any more',
    );
    await page.getByRole('button', { name: 'Close the result' }).click();
    expect(await page.getByRole('region', { name: 'Progress' }).count()).toBe(0);
  });

  it('do not exist for a user who may only look', async () => {
    const { url } = await start({ gatekeeper: { definitions: crowdOf(3) } });
    const { page } = await visit(url, { token: TOKENS.view });
    await page.getByText('3 semaphores').waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
  });

  it.each([
    ['a desktop', 'light', 1280],
    ['a desktop', 'dark', 1280],
    ['a phone', 'light', 390],
    ['a phone', 'dark', 390],
  ] as const)(
    'have no fault that axe finds, and nothing scrolls sideways, on %s, %s',
    async (_, colorScheme, width) => {
      const { url } = await start({ gatekeeper: { definitions: crowdOf(40) } });
      const viewport = { width, height: 844 };
      const { page } = await visit(url, { token: TOKENS.define, at: '/work?sort=-held', colorScheme, viewport });
      await choose(page, 'backup-0006');
      await page.getByRole('region', { name: 'Chosen semaphores' }).waitFor();
      if (process.env['PICTURES'])
        await page.screenshot({ path: `${process.env['PICTURES']}/work-${colorScheme}-${width}.png` });
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
      if (width > 390) return;
      // Heads above cards would read as one text.
      expect(await page.getByRole('button', { name: 'Held by' }).count()).toBe(0);
      expect(await page.getByLabel('Order').inputValue()).toBe('-held');
      await page.getByLabel('Order').selectOption('Name, descending');
      await until(async () => (await names(page))[0] === 'thumbnails-0038');
      expect(page.url()).toContain('sort=-name');
    },
  );
});

/** The texts of so many changes in the journal; only the oldest is one of "billing". */
function changesOf(count: number): string[] {
  const node = { group: 'default', acquirer: 'app1', instance: 'i1' };
  return Array.from({ length: count }, (_, index) => {
    const subject = index === 0 ? { by: 'mallory', semaphore: 'billing' } : { by: 'robot', semaphore: 'report' };
    return JSON.stringify({
      id: `change-${index}`,
      at: Date.now() - 60_000 + index,
      action: 'revoke',
      node,
      ...subject,
    });
  });
}

/** The names of the rows that are in the document, in their order. */
function names(page: Page): Promise<string[]> {
  return page.locator('tbody a.name').allInnerTexts();
}

/** Number of changes of many in the audit log, once it has all their parts. */
async function changesIn(get: Console['get'], parts: number): Promise<number> {
  const ids = async () => {
    const { entries } = (await get('/api/audit?limit=200')).json as { entries: { bulk?: string }[] };
    return entries.flatMap(({ bulk }) => bulk ?? []);
  };
  await until(async () => (await ids()).length === parts);
  return new Set(await ids()).size;
}
