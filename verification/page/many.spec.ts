import { TOKENS } from '../../test/console/consoles.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, useBrowser } from './chromium.js';

const MANY = Array.from({ length: 60 }, (_, index) => ({
  name: `job-${String(index).padStart(2, '0')}`,
  groupPattern: 'default',
  duration: '1m',
}));

const AWAY = { status: 503, json: { code: 'unavailable', detail: 'the store is away' } };

describeInBrowser('changes of many', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();

  it('migrates in batches after a dry run that shows who moves and who could take over', async () => {
    const { url, gatekeeper } = await start({ gatekeeper: { definitions: MANY } });
    await gatekeeper.tryAcquire('job-07');
    const { page } = await visit(url, { token: TOKENS.operate, at: '/operate/move' });
    await page.getByLabel('Names of semaphores').fill('job-[0-4].*');
    await page.getByLabel('New group pattern').fill('dr-site');
    await page.getByRole('button', { name: 'Dry run' }).click();
    const row = page.getByRole('row').filter({ hasText: 'job-07' });
    await row.waitFor();
    expect(await row.innerText()).toMatch(/Group: default dr-site\s+app1\s+no living node/);
    expect((await gatekeeper.definitions.get('job-07'))?.definition.groupPattern).toBe('default');

    await page.getByText('none of these would run anywhere').waitFor();
    const apply = page.getByRole('button', { name: 'Apply…' });
    expect(await apply.getAttribute('class')).not.toContain('primary');
    await apply.click();
    const migrate = page.getByRole('button', { name: 'Migrate' });
    expect(await migrate.isDisabled()).toBe(true);
    await page.getByLabel('Type what will not run: 50 semaphores').fill('50 semaphores');
    await page.getByLabel('Reason').fill('exercise');
    await migrate.click();
    await page.getByText('50 semaphores migrated. Done.').waitFor();
    expect((await gatekeeper.definitions.get('job-49'))?.definition.groupPattern).toBe('dr-site');
    expect((await gatekeeper.definitions.get('job-50'))?.definition.groupPattern).toBe('default');
    expect((await gatekeeper.definitions.get('job-49'))?.change).toMatchObject({ by: 'otto', reason: 'exercise' });

    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText('Nothing would change').waitFor();
  });

  it('migrates to a living node without a question', async () => {
    const { url } = await start({ gatekeeper: { definitions: MANY.slice(0, 1) } });
    const { page } = await visit(url, { token: TOKENS.operate, at: '/operate/move' });
    await page.getByLabel('New group pattern').fill('def.*');
    await page.getByRole('button', { name: 'Dry run' }).click();
    const apply = page.getByRole('button', { name: 'Apply…' });
    expect(await apply.getAttribute('class')).toContain('primary');
    await apply.click();
    await page.getByRole('button', { name: 'Migrate' }).click();
    await page.getByText('1 semaphore migrated. Done.').waitFor();
  });

  it('lists each failure of a migration by name', async () => {
    const { url } = await start({ gatekeeper: { definitions: MANY.slice(0, 2) } });
    const { page } = await visit(url, { token: TOKENS.operate, at: '/operate/move' });
    await page.getByLabel('New group pattern').fill('dr-site');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('button', { name: 'Apply…' }).click();
    await page.getByLabel('Type what will not run').fill('2 semaphores');
    // As when an operator edits one while the other is migrated.
    await page.route(/\/api\/migrations$/, async (route) => {
      const answer = await route.fetch();
      const result = await answer.json();
      result.steps[0] = { ...result.steps[0], outcome: 'failed', error: 'ann was faster' };
      await route.fulfill({ response: answer, json: result });
    });
    await page.getByRole('button', { name: 'Migrate' }).click();
    await page.getByText('job-00: ann was faster').waitFor();
    await page.getByText('1 semaphore migrated, 1 failed').waitFor();
  });

  it('says what is wrong with a pattern', async () => {
    const { url } = await start({ gatekeeper: { definitions: MANY.slice(0, 1) } });
    const { page } = await visit(url, { token: TOKENS.operate, at: '/operate/move' });
    await page.getByLabel('New group pattern').fill('dr-(site');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('alert').filter({ hasText: 'RE2' }).waitFor();
  });

  it('pauses everything and resumes it', async () => {
    const { url, gatekeeper } = await start({ gatekeeper: { definitions: MANY } });
    const { page } = await visit(url, { token: TOKENS.operate, at: '/operate' });
    const isPaused = async () => (await gatekeeper.state()).semaphores.filter(({ pause }) => pause).length;
    await page.getByRole('button', { name: 'Pause…' }).click();
    await page.getByLabel('Reason').fill('the database moves');
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('60 semaphores paused. Done.').waitFor();
    expect(await isPaused()).toBe(60);

    await page.getByLabel('Names of semaphores').fill('job-1.');
    await page.getByRole('button', { name: 'Resume…' }).click();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByText('10 semaphores resumed. Done.').waitFor();
    expect(await isPaused()).toBe(50);

    await page.getByRole('button', { name: 'Resume…' }).click();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByLabel('Progress').getByText('Nothing was resumed: there was nothing to do.').waitFor();
  });

  it('counts the tasks that were requeued before the store failed, and keeps the others', async () => {
    const { url, send } = await start();
    for (const id of ['mail:one', 'mail:two', 'mail:three']) {
      await send('POST', '/api/tasks', { id });
      await send('POST', `/api/tasks/${id}/cancel`);
    }
    const { page } = await visit(url, { token: TOKENS.operate, at: '/operate/dead-letters?type=mail' });
    let calls = 0;
    await page.route('**/retry', (route) => (++calls > 2 ? route.fulfill(AWAY) : route.continue()));
    await page.getByRole('button', { name: 'Requeue all 3 of this page…' }).click();
    await page.getByRole('button', { name: 'Requeue', exact: true }).click();
    const progress = page.getByRole('region', { name: 'Progress' });
    await progress.getByText('2 tasks requeued, 1 to go').waitFor();
    await progress.getByText('It stopped: the store is away. Start again to continue.').waitFor();
    await page.getByText('2 tasks requeued. It stopped: the store is away').waitFor();
    await page.getByRole('button', { name: 'Requeue all 1 of this page…' }).waitFor();
  });
});
