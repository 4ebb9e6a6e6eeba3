import { memory, single } from 'nestjs-gatekeeper';
import type { Page } from 'playwright-core';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { until } from '../../test/support/apps.js';
import { type Console, TOKENS } from '../../test/console/consoles.js';
import { losingTasks } from '../../test/console/losing-tasks.js';
import { TaskScene } from './scene/task-scene.js';
import { violations } from './axe.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, gone, useBrowser } from './chromium.js';

/** Any of them: tasks of one submission begin in roughly its order only. */
const IMPORTING = { name: /import-file\[june\]#\d+ running.*on app1/s };
const OFF = 'Switched off on each node that handles it, until it restarts.';
const UNLIMITED = 'each node takes as many tasks as its handler allows';

describeInBrowser('tasks in the console', () => {
  const scenes: TaskScene[] = [];
  // Before the hook that closes the nodes: they would wait for the attempts that run.
  afterEach(() => scenes.splice(0).forEach((scene) => scene.close()));
  const visit = useBrowser();
  const start = useConsolesWithPage();

  /** Nodes in the middle of their work; three tasks have failed. */
  async function busy(nodes = 1): Promise<Console> {
    const store = memory();
    const consoles: Console[] = [];
    for (let each = 1; each <= nodes; each++) {
      consoles.push(await start({ store, gatekeeper: { acquirer: `app${each}`, heartbeat: 200 } }));
    }
    const scene = new TaskScene();
    scenes.push(scene);
    await scene.play(...consoles.map(({ gatekeeper }) => gatekeeper));
    const [one] = consoles;
    await until(async () => (await one!.get('/api/tasks?state=dead&type=thumbnail')).json.tasks.length === 3);
    return one!;
  }

  it('are a view of the work, with their types, nodes, rates and backlog', async () => {
    const { url } = await busy(2);
    const { page, complaints } = await visit(url, { token: TOKENS.view, at: '/work' });
    await page.getByRole('link', { name: 'Task types', exact: true }).click();
    await page.getByRole('row', { name: /import-file on 2 nodes running.*about 8.*4 of 4/s }).waitFor();
    await page.getByRole('row', { name: /archive on no node no node.*No living node handles it/s }).waitFor();
    await page.getByRole('row', { name: /thumbnail.*0 completed 3 failed/s }).waitFor();
    await page.getByRole('img', { name: /^Backlog of import-file: waiting 8 now, at most 8/ }).waitFor();
    expect(await page.getByRole('link', { name: 'Work', exact: true }).getAttribute('aria-current')).toBe('page');
    expect(complaints).toEqual([]);
  });

  it('do not appear where no node uses them, and a look at the work asks the store for none', async () => {
    const { url, gatekeeper } = await start();
    const { page } = await visit(url, { token: TOKENS.view, at: '/work' });
    await page.getByText('No semaphore is defined yet').waitFor();
    expect(await page.getByRole('link', { name: 'Task types' }).count()).toBe(0);
    expect(partsOf(gatekeeper).tasks.opened).toBeUndefined();
  });

  it('of a type can be paused in the whole cluster, after a limit was defined', async () => {
    const { url } = await busy();
    const { page } = await visit(url, { token: TOKENS.define, at: '/work/task:import-file' });
    await page.getByRole('heading', { level: 1, name: 'Tasks: import-file' }).waitFor();
    await page.getByRole('list', { name: 'Nodes of this type' }).getByText('2 of 2 running').waitFor();
    await page.getByRole('button', { name: 'Define a limit' }).click();
    await act(page, 'Define', 'to pause it');
    await page.getByRole('button', { name: 'Pause in the whole cluster' }).click();
    await act(page, 'Pause', 'the database is slow');
    await page.getByText('“the database is slow”').first().waitFor();
    await page.getByRole('button', { name: 'Resume in the whole cluster' }).waitFor();
  });

  it('that run show their node and how far they have come', async () => {
    const { url } = await busy(2);
    const { page } = await visit(url, { token: TOKENS.view, at: '/work/task:import-file' });
    const row = page.getByRole('row', { name: /import-file\[june\]#\d+ running.*on app[12], lease ends in/s }).first();
    await row.getByText('1,200 of 4,800').waitFor();
    await row.getByRole('link').click();
    await page.getByText(/works on attempt 1 of 5/).waitFor();
    await page
      .getByText(/on app[12]/)
      .first()
      .waitFor();
  });

  it('tell their whole story, and are cancelled with a reason', async () => {
    const { url } = await busy();
    const { page, complaints } = await visit(url, { token: TOKENS.operate, at: '/runs/archive:may' });
    await page.getByRole('heading', { level: 1, name: 'Task archive:may' }).waitFor();
    await page.getByText(/\bthis node\b.* "archive"/).waitFor();
    await page.getByRole('button', { name: 'Cancel…' }).click();
    expect(await violations(page)).toEqual([]);
    await act(page, 'Cancel the task', 'done by hand');
    const story = page.getByRole('region', { name: 'Story' });
    await story.getByText('otto cancelled it').waitFor();
    await story.getByText('“done by hand”').waitFor();
    await story.getByText('ended: cancelled').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel…' }).count()).toBe(0);
    await page.goto(`${url}/#/changes`);
    await page.getByRole('row', { name: /otto.*cancel-task.*task:archive.*archive:may.*done by hand/s }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('show data, results and stacks to those alone who may claim them', async () => {
    const { url } = await busy();
    const at = '/runs/thumbnail:photo-7.heic';
    const operator = await visit(url, { token: TOKENS.operate, at });
    await operator.page.getByRole('group', { name: 'Data' }).getByText('"file": "photo-7.heic"').waitFor();
    await operator.page.getByRole('group', { name: 'Stack' }).getByText('task-scene').first().waitFor();
    const viewer = await visit(url, { token: TOKENS.view, at });
    await viewer.page.getByText('the decoder ended with signal SIGSEGV').first().waitFor();
    await viewer.page.getByText('Data, results and stacks are shown to the role “operate”.').first().waitFor();
    expect(await viewer.page.getByRole('button', { name: 'Retry…' }).count()).toBe(0);
    expect(await viewer.page.locator('pre').count()).toBe(0);
  });

  it('that ended without success are requeued, one and many, and refusals are named', async () => {
    const { url, gatekeeper } = await busy();
    const { page } = await visit(url, { token: TOKENS.operate, at: '/operate/dead-letters?type=thumbnail' });
    partsOf(gatekeeper).tasks.handlers.pauseType('thumbnail');
    await page
      .getByRole('row', { name: /scan-3.tiff invalid.*1 of 1 failed, 0 of 3 crashed.*TIFF files are not/s })
      .waitFor();
    await page.getByRole('checkbox', { name: 'Choose thumbnail:photo-7.heic' }).check();
    await page.getByRole('checkbox', { name: 'Choose thumbnail:photo-8.heic' }).check();
    await page.getByRole('button', { name: 'Requeue 2 chosen tasks…' }).click();
    await page.getByRole('dialog', { name: 'Requeue 2 tasks' }).waitFor();
    // Another operator was faster with one of them, after the dialog was opened: the live list no longer has it.
    await partsOf(gatekeeper).tasks.retry('thumbnail:photo-8.heic');
    await act(page, 'Requeue', 'a new decoder');
    await page
      .getByRole('list', { name: 'Failures' })
      .getByText(/photo-8.heic.*has not ended/)
      .waitFor();
    await page.getByText('1 task requeued, 1 failed').waitFor();
    await page.getByRole('button', { name: 'Requeue thumbnail:scan-3.tiff' }).click();
    await act(page, 'Requeue', '');
    await page.getByText('There are no dead letters of type thumbnail.').waitFor();
  });

  it('of groups stand in a tree, which is found, paged, and stopped with a reason', async () => {
    const { url } = await busy();
    const { page, complaints } = await visit(url, { token: TOKENS.operate, at: '/tasks/groups' });
    await page.getByRole('link', { name: 'import-file[june]' }).click();
    await page.getByRole('heading', { level: 1, name: 'Group import-file[june]' }).waitFor();
    await page.getByText('0 of 12 ended').waitFor();
    const members = page.getByRole('list', { name: 'Members' });
    await members.getByRole('link', { name: 'import-file[june]#12' }).waitFor();
    await page.getByRole('button', { name: 'Stop the group…' }).click();
    await act(page, 'Stop the group', 'wrong month');
    await page.getByText('“wrong month”').waitFor();
    await page.getByText('12 of 12 ended').waitFor();
    await page.goto(`${url}/#/changes`);
    await page.getByRole('row', { name: /otto.*cancel-group.*import-file\[june\].*wrong month/s }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('have their sub-tasks below them', async () => {
    const { url } = await busy();
    const { page } = await visit(url, { token: TOKENS.view, at: '/runs/reconcile:june' });
    const tree = page.getByRole('list', { name: 'Sub-tasks of reconcile:june' });
    await tree.getByText('0 of 3 ended').waitFor();
    await tree.getByRole('link', { name: /to the bank$/ }).click();
    await page.getByRole('link', { name: 'reconcile:june' }).click();
    await tree.getByRole('link', { name: 'account[accounts]' }).click();
    await page.getByRole('heading', { level: 1, name: /^Group account/ }).waitFor();
  });

  it('that run are a view of the runs, and those of schedules one of the work', async () => {
    const { url } = await busy();
    const { page } = await visit(url, { token: TOKENS.view, at: '/runs' });
    await page.getByRole('navigation', { name: 'Views of Runs' }).getByRole('link', { name: 'Tasks' }).click();
    await page.getByRole('row', IMPORTING).first().waitFor();
    await page.goto(`${url}/#/tasks/schedules`);
    await page
      .getByRole('row', { name: /nightly-report.*0 3 \* \* \*.*Europe\/Berlin.*once-per-tick.*missed: once.*in /s })
      .waitFor();
    await page.getByRole('row', { name: /exchange-rates.*at-most-one-running/s }).waitFor();
    await page.goto(`${url}/#/runs/next`);
    await page
      .getByRole('row', { name: /nightly-report schedule of tasks in .*0 3 \* \* \* Europe\/Berlin/s })
      .waitFor();
    await page.getByRole('link', { name: 'exchange-rates' }).click();
    await page.getByRole('group', { name: 'Schedules' }).waitFor();
  });

  it('stand among the runs by state: attempts that failed, and tasks that were given up', async () => {
    const { url, gatekeeper, get } = await busy();
    const options = { backoff: { first: '1h', longest: '1h' } } as const;
    await partsOf(gatekeeper).tasks.submit(single('thumbnail', 'photo-9.heic'), { file: 'photo-9.heic' }, options);
    await until(async () => (await get('/api/tasks?state=delayed&type=thumbnail')).json.tasks.length === 1);
    const { page, complaints } = await visit(url, { token: TOKENS.view, at: '/runs/tasks' });
    await page.getByRole('row', IMPORTING).first().waitFor();
    await page.getByRole('button', { name: 'Failed, tried again' }).click();
    await page.getByRole('row', { name: /failed thumbnail:photo-9\.heic 1 of \d+ app1 .*SIGSEGV/s }).waitFor();
    expect(page.url()).toMatch(/#\/runs\/tasks\?show=failed$/);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Given up' }).click();
    await page.getByRole('row', { name: /failed thumbnail:photo-7\.heic 1 of 1 app1 .*SIGSEGV/s }).waitFor();
    await page.getByRole('row', { name: /given up thumbnail:photo-7\.heic 1 of 1 failed/s }).waitFor();
    await page.getByRole('row', { name: /invalid thumbnail:scan-3\.tiff .*TIFF files are not supported/s }).waitFor();
    await page
      .getByRole('row', { name: /cancelled invoice:order-4699 .*cancelled by ann: “the order was returned”/s })
      .waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(await violations(page)).toEqual([]);
    await page.reload();
    await page.getByRole('link', { name: 'thumbnail:photo-7.heic' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Task thumbnail:photo-7.heic' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('of a type are switched off on the answering node, and on again', async () => {
    const { url } = await busy();
    const { page } = await visit(url, { token: TOKENS.operate, at: '/work/task:mail' });
    await page.getByRole('button', { name: 'Switch off on app1' }).click();
    await act(page, 'Switch off', 'the relay is down');
    await page.getByText(OFF).first().waitFor();
    await page.getByRole('button', { name: 'Switch on on app1' }).click();
    await act(page, 'Switch on', '');
    await page.getByText(OFF).waitFor({ state: 'detached' });
  });

  it('of a type without a limit ask once for its limit, and show it as soon as it is defined', async () => {
    const { url, gatekeeper } = await busy();
    const { page } = await visit(url, { token: TOKENS.view });
    // Each query is repeated once when the stream begins.
    await page.getByRole('banner').getByText('Live').waitFor();
    const asked = { limit: 0, types: 0 };
    page.on('response', (response) => {
      if (response.url().includes('/semaphores/task%3Amail')) asked.limit++;
      if (response.url().endsWith('/task-types')) asked.types++;
    });
    await page.goto(`${url}/#/work/task:mail`);
    await page.getByText(UNLIMITED).waitFor();
    // Its other data are loaded again and again meanwhile: each 5 s, and less often by a slow machine.
    await until(() => asked.types >= 3, 50_000);
    expect(asked.limit).toBe(1);
    await gatekeeper.definitions.define({ name: 'task:mail', permits: 7, duration: '1m' });
    await gone(page.getByText(UNLIMITED));
  });

  it('are not shown as none while the store can not be asked', async () => {
    const { store, takeAway } = losingTasks();
    const { url } = await start({ store });
    takeAway();
    for (const at of [
      '/tasks',
      '/tasks/groups',
      '/runs/tasks',
      '/work/task:mail',
      '/runs/mail:a',
      '/operate/dead-letters',
    ]) {
      const { page } = await visit(url, { token: TOKENS.view, at });
      await page.getByRole('alert').getByRole('button', { name: 'Try again' }).first().waitFor();
      expect([at, await page.getByText(/There are no|No living node|none waits/).count()]).toEqual([at, 0]);
    }
  });

  it.each(['light', 'dark'] as const)(
    'have no fault that axe finds, and fit a narrow screen, in %s',
    async (colorScheme) => {
      const { url } = await busy();
      const { page } = await visit(url, {
        token: TOKENS.define,
        colorScheme,
        at: '/tasks',
        viewport: { width: 360, height: 740 },
      });
      for (const at of PAGES) {
        await page.goto(`${url}/#/${at}`);
        await gone(page.getByText('Loading…'));
        expect({ at, width: await page.evaluate('document.documentElement.scrollWidth') }).toEqual({ at, width: 360 });
        expect({ at, violations: await violations(page) }).toEqual({ at, violations: [] });
      }
    },
  );
});

const PAGES = [
  'tasks/groups',
  'tasks/schedules',
  'work/task:import-file/june',
  'runs/tasks',
  'runs/reconcile:june',
  'tasks',
  'work/task:import-file',
  'work/task:thumbnail?state=dead',
  'runs/thumbnail:photo-7.heic',
  'operate/dead-letters',
];

/** Confirms a dialog. */
async function act(page: Page, verb: string, reason: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill(reason);
  await dialog.getByRole('button', { name: verb, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}
