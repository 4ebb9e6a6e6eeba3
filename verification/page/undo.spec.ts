import type { Locator, Page } from 'playwright-core';
import { until } from '../../test/support/apps.js';
import { type Console, TOKENS } from '../../test/console/consoles.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, useBrowser } from './chromium.js';

const JOBS = ['job-a', 'job-b', 'job-c'].map((name) => ({ name, groupPattern: 'default', duration: '1m' }));

describeInBrowser('the undo of changes', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();
  const logged = ({ gatekeeper }: Console, count: number) =>
    until(async () => (await gatekeeper.audit.read(100)).length === count);
  const boot = async () => {
    const console = await start({ gatekeeper: { definitions: JOBS } });
    await until(async () => (await console.gatekeeper.state()).semaphores.length === JOBS.length);
    return console;
  };

  it('shows what it would put back, and puts it back with a reason', async () => {
    const console = await boot();
    const { definitions } = console.gatekeeper;
    await definitions.edit('job-a', { permits: 7 }, { by: 'ann', reason: 'more load' });
    await logged(console, 1);
    const { page } = await visit(console.url, { token: TOKENS.define, at: '/changes' });
    await undoOf(page, 'job-a').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Permits: 7 1').waitFor();
    expect((await definitions.get('job-a'))?.revision).toBe(2);
    await dialog.getByLabel('Reason').fill('too much');
    await dialog.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('1 semaphore undone.').waitFor();
    expect(await definitions.get('job-a')).toMatchObject({
      definition: { permits: 1 },
      change: { by: 'dora', reason: 'too much' },
    });
    await page.getByText('undone by dora').waitFor();
  });

  it('groups a change of many, undoes it as a whole, and names what it leaves alone', async () => {
    const console = await boot();
    const { definitions } = console.gatekeeper;
    await definitions.migrate({ to: { groupPattern: 'dr-site' } }, { by: 'ann', reason: 'drill' });
    await definitions.pause('job-b', { by: 'cleo', reason: 'broken' });
    await logged(console, 4);
    const { page } = await visit(console.url, { token: TOKENS.operate, at: '/changes' });
    await page.getByText('3 semaphores').click();
    await page.getByRole('link', { name: 'job-c' }).waitFor();
    await undoOf(page, '3 semaphores').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Stays as it is, because it has changed since').waitFor();
    await dialog.getByText(/\(pause by "cleo"/).waitFor();
    await dialog.getByRole('button', { name: 'Undo 2' }).click();
    await dialog.getByText('Left alone, because it is not as this change left it').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await definitions.get('job-a'))?.definition.groupPattern).toBe('default');
    expect((await definitions.get('job-b'))?.pause).toMatchObject({ by: 'cleo', groupPattern: 'dr-site' });
  });

  it('tells in the dialog who was faster', async () => {
    const console = await boot();
    const { definitions } = console.gatekeeper;
    await definitions.edit('job-a', { permits: 7 }, { by: 'ann' });
    await logged(console, 1);
    const { page } = await visit(console.url, { token: TOKENS.define, at: '/changes' });
    await undoOf(page, 'job-a').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Permits: 7 1').waitFor();
    await definitions.edit('job-a', { permits: 8 }, { by: 'cleo', reason: 'even more' });
    await dialog.getByRole('button', { name: 'Undo', exact: true }).click();
    await dialog.getByRole('alert').getByText('cleo').waitFor();
    expect((await definitions.get('job-a'))?.definition.permits).toBe(8);
  });

  it('offers no undo to roles that may not make the change', async () => {
    const console = await boot();
    await console.gatekeeper.definitions.edit('job-a', { permits: 7 });
    await console.gatekeeper.definitions.pause('job-b');
    await logged(console, 2);
    const { page } = await visit(console.url, { token: TOKENS.operate, at: '/changes' });
    await undoOf(page, 'job-b').waitFor();
    expect(await undoOf(page, 'job-a').count()).toBe(0);
  });
});

function undoOf(page: Page, changed: string): Locator {
  return page.getByRole('button', { name: `Undo change of ${changed}…` });
}
