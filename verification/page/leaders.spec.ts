import { memory } from 'nestjs-gatekeeper';
import type { Page } from 'playwright-core';
import { until } from '../../test/support/apps.js';
import { type Console, TOKENS } from '../../test/console/consoles.js';
import { pastTerms, publishHistory } from './scene/history.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, useBrowser } from './chromium.js';

const at = '/work/leader:default';

describeInBrowser('leadership in the console', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();

  /** app1 leads; app2 and app3 wait. */
  async function led(nodes = 3) {
    const store = memory();
    const consoles: Console[] = [];
    for (let each = 1; each <= nodes; each++) {
      const gatekeeper = { acquirer: `app${each}`, leadership: { enabled: true } };
      consoles.push(await start({ store, gatekeeper }));
      if (each === 1) await consoles[0]!.gatekeeper.cluster.scope().whenLeader();
    }
    const [one] = consoles;
    await until(async () => (await one!.get('/api/leaders')).json.scopes[0].candidates === nodes);
    return { store, consoles, url: one!.url };
  }
  const leads = ({ gatekeeper }: Console) => gatekeeper.cluster.scope().isLeader;

  it('shows who leads, and why the others do not', async () => {
    const { url, consoles } = await led();
    await consoles[0]!.gatekeeper.definitions.edit('leader:default', { acquirerPattern: 'app[12]' });
    const { page, complaints } = await visit(url, { token: TOKENS.view, at });
    await page.getByRole('heading', { name: 'Leadership: default' }).waitFor();
    await page.getByText('app1 (default) leads.').waitFor();
    const nodes = page.getByRole('list', { name: 'Nodes of this scope' }).getByRole('listitem');
    await page.getByText('2 nodes could lead').waitFor();
    expect((await nodes.allInnerTexts()).map((text) => text.replaceAll(/\n.*default · \w+\n/g, ' '))).toEqual([
      'app1 leads',
      'app2 waits while app1 leads',
      expect.stringMatching(/^app3 .*acquirerPattern "app\[12\]"/),
    ]);
    expect(await page.getByRole('button', { name: /Step down|Transfer/ }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('names the scopes that a node leads, one apart from the other', async () => {
    const leadership = { enabled: true, scopes: ['default', 'reports'] };
    const { url, gatekeeper } = await start({ store: memory(), gatekeeper: { acquirer: 'app1', leadership } });
    await Promise.all(leadership.scopes.map((scope) => gatekeeper.cluster.scope(scope).whenLeader()));
    const { page } = await visit(url, { token: TOKENS.view, at: '/nodes' });
    await page.getByText('leads default, reports').waitFor();
  });

  it('asks the leader to step down: shows who could follow, and afterwards who asked and why', async () => {
    const { url, consoles } = await led(2);
    const { page } = await visit(url, { token: TOKENS.operate, at });
    await page.getByRole('button', { name: 'Step down…' }).click();
    await page.getByRole('dialog').getByText('Then one of these nodes leads: app2.').waitFor();
    await act(page, 'Step down', 'it is slow');
    await page.getByText('app1 was asked to step down.').waitFor();
    await page.getByText('app2 (default) leads.').waitFor();
    expect(consoles.map(leads)).toEqual([false, true]);
    const terms = page.getByRole('group', { name: 'Terms' });
    await terms.getByText('Stepped down, asked by otto: “it is slow”').waitFor();
    await page.getByRole('group', { name: 'Changes' }).getByText('step-down').waitFor();
  });

  it('says before that no other node could follow', async () => {
    const { url } = await led(1);
    const { page } = await visit(url, { token: TOKENS.operate, at });
    await page.getByRole('button', { name: 'Step down…' }).click();
    await page.getByText('No other node can lead now, so app1 leads again after 6 seconds.').waitFor();
  });

  it('transfers the leadership to a node', async () => {
    const { url, consoles } = await led(3);
    const { page } = await visit(url, { token: TOKENS.operate, at });
    await page.getByRole('button', { name: 'Transfer to app3' }).click();
    await act(page, 'Transfer', 'a larger machine');
    await page.getByText('app3 (default) leads.').waitFor();
    expect(consoles.map(leads)).toEqual([false, false, true]);
    await page.getByText('Transferred by otto: “a larger machine”').waitFor();
  });

  it('shows a scope without a leader as such', async () => {
    const { url, consoles } = await led(1);
    const { definitions } = consoles[0]!.gatekeeper;
    await definitions.edit('leader:default', { duration: '1m' }, { by: 'ann' });
    await definitions.pause('leader:default', { by: 'ann', reason: 'maintenance' });
    const { page } = await visit(url, { token: TOKENS.define, at });
    await page.getByText('No node leads this scope now.').waitFor();
    await page.locator('.panel.warning', { hasText: 'Paused by ann' }).waitFor();
    await page.getByText('the scope is paused by ann').waitFor();
    expect(await page.getByRole('button', { name: 'Step down…' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Reset to the code' }).click();
    await act(page, 'Reset', '');
    expect((await definitions.get('leader:default'))?.source).toBe('code');
    await page.goto(`${url}/#/work?kind=leader`);
    await page.getByRole('link', { name: 'leader:default' }).waitFor();
    await page.goto(`${url}/#/work/leader:nightly`);
    await page
      .getByText(/no node has the scope "nightly"/)
      .first()
      .waitFor();
  });

  it('draws a lane per node, and times without a leader in red', async () => {
    const { url, store, consoles } = await led(1);
    const raw = store.open();
    const nodes = ['app1', 'app2', 'app3'].map((acquirer) => ({ group: 'default', acquirer, instance: acquirer }));
    await publishHistory(raw, pastTerms('leader:default', nodes, Date.now()));
    await raw.close();
    const { page } = await visit(url, { token: TOKENS.view, at });
    await page.getByText('6 terms, 2 times without a leader').waitFor();
    expect(await page.locator('.lane-name').allInnerTexts()).toEqual(['app1', 'app2', 'app3', 'no leader', '']);
    expect(await page.locator('.lane .term').count()).toBe(6);
    expect(await page.locator('.lane .term.lost').getAttribute('title')).toContain('expired');
    const ends = await page.getByRole('group', { name: 'Terms' }).getByRole('row').allInnerTexts();
    expect(
      ends
        .map((row) => row.split('\t').map((cell) => cell.trim()))
        .map(([node, , , end]) => [node!.split('\n')[0], end]),
    ).toEqual([
      ['Node', 'How it ended'],
      ['app1', 'Goes on'],
      ['no leader', ''],
      ['app3', 'Handed over'],
      ['app1', 'The node shut down'],
      ['no leader', ''],
      ['app3', 'Its permit expired: the node crashed, froze or lost contact'],
      ['app2', 'Handed over'],
      ['app1', 'The node resigned'],
    ]);
    await page.getByRole('button', { name: 'Last hour' }).click();
    await page.getByText(/^[23] terms, 1 /).waitFor();
    expect(page.url()).toContain('range=1h');
    expect(consoles).toHaveLength(1);
  });

  it('filters work by the kinds that are in use', async () => {
    const { url, consoles } = await led(1);
    await consoles[0]!.gatekeeper.definitions.define({ name: 'import', duration: '1m' });
    const { page } = await visit(url, { token: TOKENS.view, at: '/work' });
    const kinds = page.getByRole('group', { name: 'Kind' }).getByRole('button');
    await page.getByText('2 semaphores').waitFor();
    expect(await kinds.allTextContents()).toEqual(['All work', 'Locks 1', 'Leaders 1']);
    await page.getByRole('button', { name: 'Leaders' }).click();
    await page.getByText('1 of 2 semaphores').waitFor();
    expect(await page.getByRole('row', { name: 'leader:default' }).innerText()).toMatch(/leadership\s+led/);
    expect(page.url()).toMatch(/#\/work\?kind=leader$/);
    await consoles[0]!.gatekeeper.definitions.remove('import');
    await page.getByText('1 semaphore', { exact: true }).waitFor();
    expect(await kinds.count()).toBe(0);
  });

  it('shows the membership of each node, and which scope it leads', async () => {
    const { url, consoles } = await led(2);
    const { page } = await visit(url, { token: TOKENS.view, at: '/nodes' });
    await page.getByRole('row', { name: /app1.*living.*leads default/s }).waitFor();
    await page.getByRole('row', { name: /app2.*living.*waits for default/s }).waitFor();
    await consoles[1]!.app.close();
    await page.getByRole('row', { name: /app2.*left/s }).waitFor();
  });
});

describeInBrowser('former addresses of the console', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();

  it.each([
    ['/semaphores?search=x', '#/work?search=x', 'Work'],
    ['/semaphores/nightly', '#/work/nightly', 'nightly'],
    ['/audit?search=x', '#/changes?search=x', 'Changes'],
    ['/migrate', '#/operate/move', 'Operate'],
    ['/maintenance', '#/operate', 'Operate'],
  ])('lead to the present page: %s', async (former, present, title) => {
    const { url } = await start({ gatekeeper: { definitions: [{ name: 'nightly', duration: '1m' }] } });
    const { page } = await visit(url, { token: TOKENS.view, at: former });
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    expect(new URL(page.url()).hash).toBe(present);
  });
});

/** Confirms a dialog. */
async function act(page: Page, verb: string, reason: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill(reason);
  await dialog.getByRole('button', { name: verb, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}
