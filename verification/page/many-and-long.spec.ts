import { mkdir } from 'node:fs/promises';
import { memory } from 'nestjs-gatekeeper';
import type { Page } from 'playwright-core';
import { until } from '../../test/support/apps.js';
import { allocating, untilOwned } from '../../test/console/allocating.js';
import { type Console, TOKENS } from '../../test/console/consoles.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, gone, useBrowser } from './chromium.js';
import { layoutFaults } from './layout.js';
import { ManyLong, longName, manyLong } from './scene/many-long.js';
import { DEFINITIONS, Scene } from './scene/scene.js';
import { TaskScene } from './scene/task-scene.js';

/** The phone of most people, and a small laptop. */
const SCREENS = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
] as const;
const SCHEMES = ['light', 'dark'] as const;
/** Folder for pictures of all that is looked at. */
const PICTURES = process.env['PAGE_PICTURES'];

/** One page of the console. */
interface Place {
  readonly name: string;
  readonly at: string;
  /** Names of the buttons that open its dialogs; a button that is not there, or is disabled, is left out. */
  readonly dialogs?: readonly (string | RegExp)[];
  /** Brings the page into a state that needs input. */
  readonly prepare?: (page: Page) => Promise<unknown>;
}

describeInBrowser('the layout of the page', () => {
  const scenes: { close(): unknown }[] = [];
  // Before the hook that closes the nodes: they would wait for the attempts that run.
  afterEach(() => Promise.all(scenes.splice(0).map((scene) => scene.close())));
  const visit = useBrowser();
  const start = useConsolesWithPage();

  async function manyAndLong(count: number): Promise<Console & { places: readonly Place[] }> {
    const store = memory();
    const scene = new ManyLong(store, count);
    scenes.push(scene);
    await scene.publish(Date.now());
    const acquirer = count === 0 ? 'app1' : longName('app', 1);
    const console = await start({ store, gatekeeper: { acquirer, ...manyLong(count) } });
    await scene.play(console.gatekeeper);
    if (count > 0)
      await until(async () => (await console.get('/api/tasks?state=dead&limit=1')).json.tasks.length > 0, 20_000);
    return { ...console, places: [...PLACES, ...(count === 0 ? [] : placesOf(scene))] };
  }

  async function usual(): Promise<Console & { places: readonly Place[] }> {
    const store = memory();
    const [scene, tasks] = [new Scene(store), new TaskScene()];
    scenes.push(scene, tasks);
    await scene.play(Date.now());
    const console = await start({
      store,
      gatekeeper: { definitions: DEFINITIONS, group: 'production', ...allocating('abcdef') },
      console: { tokens: [...TOKENS_OF_ALL], environment: 'production' },
    });
    await tasks.play(console.gatekeeper);
    await untilOwned(console, ({ nodes }) => nodes?.[0]?.owned === 6);
    await until(async () => (await console.get('/api/tasks?state=dead&type=thumbnail')).json.tasks.length === 3);
    const { json } = await console.get('/api/history?show=failed&limit=1');
    const [{ semaphore, job, node, at }] = json.entries;
    const run = ['runs', 'of', semaphore, job, node.instance, String(at)].map(encodeURIComponent).join('/');
    const names = { type: 'import-file', failed: 'thumbnail:photo-7.heic', run };
    const groups = { groupType: 'import-file', group: 'june' };
    return {
      ...console,
      places: [...PLACES, ...placesOf({ semaphore: 'nightly-export', scope: 'leader:mailbox', ...names, ...groups })],
    };
  }

  /** Looks at all pages and dialogs. @returns the faults of each */
  async function lookAt(url: string, places: readonly Place[], title: string, token: string) {
    const faults: Record<string, readonly string[]> = {};
    // Without transitions: a picture in the middle of one would have other colours.
    const { page } = await visit(url, { token, reducedMotion: 'reduce' });
    const looked = async (name: string) => {
      for (const screen of SCREENS) {
        await page.setViewportSize(screen);
        const found = new Set<string>();
        for (const colorScheme of SCHEMES) {
          await page.emulateMedia({ colorScheme });
          for (const fault of await layoutFaults(page)) found.add(fault);
          await picture(page, `${name}-${title}-${screen.width}-${colorScheme}`);
        }
        if (found.size > 0) faults[`${name}, ${screen.width} px`] = [...found];
      }
      await page.setViewportSize(SCREENS[0]);
    };
    for (const { name, at, dialogs = [], prepare } of places) {
      await page.goto(`${url}/#/${at}`);
      await gone(page.getByText('Loading…'));
      await prepare?.(page);
      await looked(name);
      for (const each of dialogs) {
        const button = page.getByRole('button', { name: each }).first();
        if ((await button.count()) === 0 || (await button.isDisabled())) continue;
        await button.click();
        await page.getByRole('dialog').waitFor();
        await gone(page.getByRole('dialog').getByText('Loading…'));
        await looked(`${name}, ${String(each).replaceAll(/[^\w ]/g, '')}`);
        await page.keyboard.press('Escape');
      }
    }
    return faults;
  }

  it('has no text that is cut, glued, broken or off the screen, in the middle of the day', async () => {
    const { url, places } = await usual();
    expect(await lookAt(url, places, 'usual', TOKENS.define)).toEqual({});
  }, 300_000);

  it('shows the first job, with its next run, in the upper half of a phone', async () => {
    const { url, get } = await usual();
    // Clocks count as suspect until all have been read, and a line says so.
    await until(async () => (await get('/api/health')).json.status === 'healthy');
    const { page } = await visit(url, { token: TOKENS.define, at: '/work', viewport: SCREENS[1] });
    const first = page.getByRole('row').filter({ hasText: 'exchange-rates' });
    await first.locator('.cell-next time').waitFor();
    const jobs = await page.locator('.semaphores .cell-name a').all();
    expect((await jobs[0]!.boundingBox())!.y).toBeLessThan(SCREENS[1].height / 2);
    expect(await first.locator('.cell-next').innerText()).toMatch(/in \d+ min\s+\*\/5 \* \* \* \* UTC/);
  });

  it.each([0, 1, 5, 1000])(
    'has no text that is cut, glued, broken or off the screen, with %i of each kind and the longest names',
    async (count) => {
      const { url, places } = await manyAndLong(count);
      expect(await lookAt(url, places, `of ${count}`, TOKENS.define)).toEqual({});
    },
    600_000,
  );
});

const TOKENS_OF_ALL = (['view', 'operate', 'define'] as const).map((role) => ({
  token: TOKENS[role],
  name: { view: 'vera', operate: 'otto', define: 'dora' }[role],
  role,
}));

async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  await mkdir(PICTURES, { recursive: true });
  const { width } = page.viewportSize()!;
  const height = Math.min(2600, Number(await page.evaluate('document.documentElement.scrollHeight')));
  const path = `${PICTURES}/${name.replaceAll(/\W+/g, '-')}.png`;
  await page.screenshot({ path, fullPage: true, clip: { x: 0, y: 0, width, height } });
}

async function planned(page: Page): Promise<void> {
  await page.getByLabel('New group pattern').fill('d'.repeat(200));
  await page.getByRole('button', { name: 'Dry run' }).click();
  await page.getByText(/What would happen|Nothing would change/).waitFor();
}

async function named(page: Page): Promise<void> {
  await page.getByLabel('Name of the window').fill(longName('window', 0));
}

const PLACES: readonly Place[] = [
  { name: 'work', at: 'work', dialogs: ['Define', 'Keyboard shortcuts'] },
  {
    name: 'work, chosen',
    at: 'work',
    prepare: async (page) => {
      const all = page.getByRole('checkbox', { name: /^Choose all/ });
      if ((await all.count()) > 0) await all.check();
    },
    dialogs: ['Pause…'],
  },
  { name: 'runs', at: 'runs' },
  { name: 'next', at: 'runs/next' },
  { name: 'nodes', at: 'nodes' },
  { name: 'allocation', at: 'nodes/allocation', dialogs: [/^Drain/, /^Pin/] },
  { name: 'changes', at: 'changes', dialogs: [/^Undo/] },
  { name: 'operate', at: 'operate', prepare: named, dialogs: ['Start…', 'Pause…'] },
  { name: 'move', at: 'operate/move', prepare: planned, dialogs: ['Apply…'] },
  { name: 'dead-letters', at: 'operate/dead-letters', dialogs: [/^Requeue all/] },
  { name: 'health', at: 'health' },
  { name: 'types', at: 'tasks' },
  { name: 'groups', at: 'tasks/groups' },
  { name: 'schedules', at: 'tasks/schedules' },
  { name: 'task-runs', at: 'runs/tasks' },
  { name: 'task-runs, given up', at: 'runs/tasks?show=given-up' },
  { name: 'nowhere', at: 'nowhere' },
];

interface Named {
  readonly semaphore: string;
  readonly scope: string;
  readonly type: string;
  readonly groupType: string;
  readonly group: string;
  /** Id of a task that failed. */
  readonly failed: string;
  /** Address of the page of a run. */
  readonly run: string;
}

function placesOf({ semaphore, scope, type, groupType, group, failed, run }: Named): Place[] {
  const [of, ofType] = [encodeURIComponent(semaphore), encodeURIComponent(`task:${type}`)];
  return [
    { name: 'job', at: `work/${of}`, dialogs: ['Run now', 'Pause', 'Resume', 'Reset', 'Remove', /^Revoke/] },
    {
      name: 'job, edited',
      at: `work/${of}`,
      prepare: async (page) => {
        await page.getByRole('button', { name: 'Edit' }).click();
        for (const summary of await page.locator('summary').all()) await summary.click();
      },
    },
    { name: 'leader', at: `work/${encodeURIComponent(scope)}`, dialogs: ['Step down…', /^Transfer/] },
    { name: 'type', at: `work/${ofType}`, dialogs: [/^Define a limit/, /^Switch off/] },
    { name: 'type, dead', at: `work/${ofType}?state=dead` },
    {
      name: 'group',
      at: `work/${encodeURIComponent(`task:${groupType}`)}/${encodeURIComponent(group)}`,
      dialogs: [/^Stop the group/],
    },
    { name: 'task', at: `runs/${encodeURIComponent(failed)}`, dialogs: ['Retry…'] },
    { name: 'run', at: run },
  ];
}
