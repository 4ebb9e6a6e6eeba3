import { Injectable } from '@nestjs/common';
import { ClusterSingleton } from 'nestjs-gatekeeper';
import { until } from '../../test/support/apps.js';
import { type Console, TOKENS } from '../../test/console/consoles.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, useBrowser } from './chromium.js';

@Injectable()
class Jobs {
  static readonly ends: (() => void)[] = [];

  @ClusterSingleton('nightly', '1m')
  export(): Promise<void> {
    return new Promise((resolve) => Jobs.ends.push(resolve));
  }

  @ClusterSingleton('import', '1m')
  async import(tenant: string): Promise<string | undefined> {
    return tenant;
  }
}

describeInBrowser('run now in the console', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();

  async function withJobs(): Promise<Console> {
    const console = await start({ gatekeeper: { heartbeat: 100 }, metadata: { providers: [Jobs] } });
    await until(async () => (await console.gatekeeper.registry.nodes()).some(({ jobs }) => jobs.length === 2));
    return console;
  }

  it('runs a job after a dialog with its node and a reason, and shows its end', async () => {
    const console = await withJobs();
    const { page, complaints } = await visit(console.url, { token: TOKENS.operate, at: '/work/nightly' });
    await page.getByRole('button', { name: 'Run now' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Runs Jobs.export once, under the permit: on app1.').waitFor();
    await dialog.getByLabel('Reason').fill('the first one failed');
    await dialog.getByRole('button', { name: 'Run now' }).click();
    await page.getByRole('status').filter({ hasText: '"Jobs.export" runs on app1.' }).waitFor();
    await until(() => Jobs.ends.length === 1);
    Jobs.ends.shift()!();
    await page.getByRole('status').filter({ hasText: '"Jobs.export" ended well on app1' }).waitFor();
    await page.getByRole('cell', { name: 'run by hand, otto' }).waitFor();
    await page.getByRole('row').filter({ hasText: 'run-now' }).filter({ hasText: 'the first one failed' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('says why a job can not be run, instead of the dialog', async () => {
    const console = await withJobs();
    const { page } = await visit(console.url, { token: TOKENS.operate, at: '/work/import' });
    await page.getByText('It can’t be run now: the application calls "Jobs.import" with arguments').waitFor();
    expect(await page.getByRole('button', { name: 'Run now' }).isDisabled()).toBe(true);
    await console.gatekeeper.definitions.pause('nightly', { by: 'bob', reason: 'the disk is replaced' });
    await page.goto(`${console.url}/#/work/nightly`);
    await page.getByText(/\bbob .*: the disk is replaced/).waitFor();
    expect(await page.getByRole('button', { name: 'Run now' }).isDisabled()).toBe(true);
  });

  it('is not offered to the role view', async () => {
    const console = await withJobs();
    const { page } = await visit(console.url, { token: TOKENS.view, at: '/work/nightly' });
    await page.getByText('Jobs.export').first().waitFor();
    expect(await page.getByRole('button', { name: 'Run now' }).count()).toBe(0);
  });
});
