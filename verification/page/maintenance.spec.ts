import { until } from '../../test/support/apps.js';
import { TOKENS } from '../../test/console/consoles.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, useBrowser } from './chromium.js';

const JOBS = ['job-a', 'job-b', 'job-c'].map((name) => ({ name, groupPattern: 'default', duration: '1m' }));

describeInBrowser('maintenance windows', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();
  const boot = async () => {
    const console = await start({ gatekeeper: { definitions: JOBS } });
    await until(async () => (await console.gatekeeper.state()).semaphores.length === JOBS.length);
    return console;
  };

  it('are started, count down what is held, and end with what they left alone', async () => {
    const { url, gatekeeper } = await boot();
    const { definitions } = gatekeeper;
    await definitions.pause('job-c', { by: 'ann', reason: 'broken for weeks' });
    const permit = (await gatekeeper.tryAcquire('job-a'))!;
    const { page } = await visit(url, { token: TOKENS.operate, at: '/operate' });
    expect(await page.getByRole('button', { name: 'Start…' }).isDisabled()).toBe(true);
    await page.getByLabel('Name of the window').fill('database moves');
    await page.getByRole('button', { name: 'Start…' }).click();
    await page.getByLabel('Reason').fill('it moves');
    await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
    await page.getByText('2 semaphores paused. Done.').waitFor();
    await page.getByText(/ by "ann" /).waitFor();

    const window = page.getByRole('region', { name: 'database moves' });
    await window.getByText('1 permit still held').waitFor();
    await window.getByRole('link', { name: 'job-a' }).waitFor();
    expect(await window.innerText()).toMatch(/otto, .*: “it moves”/);
    await permit.release();
    await window.getByText('0 permits still held').waitFor();
    await window.and(page.locator('.quiet')).waitFor();

    const open = page.getByRole('region', { name: 'Open maintenance windows' });
    await open.getByText('Maintenance: database moves', { exact: true }).click();
    await open.getByText(/^Maintenance database moves, by otto since .*: “it moves”$/).waitFor();
    await page.getByRole('link', { name: 'Work', exact: true }).click();
    await open.getByRole('link', { name: 'Maintenance' }).click();

    await definitions.resume('job-b', { by: 'cleo', reason: 'urgent' });
    await window.getByText(/\(resume by "cleo" /).waitFor();
    await window.getByText('Not paused: defined or resumed since').waitFor();
    await window.getByRole('button', { name: 'End…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
    await window.waitFor({ state: 'detached' });
    await page.getByText('1 semaphore resumed.').waitFor();
    await open.waitFor({ state: 'detached' });
    expect((await definitions.get('job-a'))?.pause).toBeUndefined();
    expect((await definitions.get('job-c'))?.pause).toMatchObject({ by: 'ann' });
  });

  it('that were not started completely can be continued, and take in what was defined since', async () => {
    const { url, gatekeeper } = await boot();
    const { definitions } = gatekeeper;
    await definitions.maintenance.start({ window: 'database', names: '.*', limit: 1 });
    const { page } = await visit(url, { token: TOKENS.operate, at: '/operate' });
    const window = page.getByRole('region', { name: 'database' });
    await window.getByRole('button', { name: 'Continue the start' }).click();
    await window.and(page.locator('.quiet')).waitFor();
    await definitions.define({ name: 'job-d', duration: '1m' });
    await window.getByRole('button', { name: 'Pause these, too' }).click();
    await until(async () => (await definitions.get('job-d'))?.pause !== undefined);
    await window.getByText('4 semaphores paused').waitFor();
  });

  it('are shown without buttons to those who only look', async () => {
    const { url, gatekeeper } = await boot();
    await gatekeeper.definitions.maintenance.start({ window: 'database', names: '.*' });
    const { page } = await visit(url, { token: TOKENS.view, at: '/operate' });
    await page.getByRole('region', { name: 'database' }).getByText('3 semaphores paused').waitFor();
    for (const name of ['End…', 'Start…', 'Pause…']) expect(await page.getByRole('button', { name }).count()).toBe(0);
  });
});
