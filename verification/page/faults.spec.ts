import { fileURLToPath } from 'node:url';
import { memory } from 'nestjs-gatekeeper';
import type { Page } from 'playwright-core';
import { NodeProcess } from '../processes/cluster/node-process.js';
import { allocating, untilOwned } from '../../test/console/allocating.js';
import { SETTINGS, TOKENS } from '../../test/console/consoles.js';
import { LOST, failingStore } from '../../test/console/failing-store.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, gone, useBrowser } from './chromium.js';
import { eventually } from '../../test/contract/eventually.js';

/** ms within which every page must tell of a fault. */
const WITHIN = 10_000;
const PAGES = [
  'work',
  'work/nightly',
  'work/leader:default',
  'work/task:mail',
  'tasks',
  'tasks/groups',
  'tasks/schedules',
  'runs',
  'runs/tasks',
  'nodes',
  'nodes/allocation',
  'changes',
  'operate',
  'operate/move',
  'operate/dead-letters',
  'health',
];
const DEFINITIONS = ['nightly', 'task:mail'].map((name) => ({ name, duration: '1m' }));
const TOO_FEW = /\b1 of .* 2 members/;
/** The time of the data that are shown. */
const AGE = /\d\d:\d\d/;
const NODE = fileURLToPath(new URL('other-node.mjs', import.meta.url));

describeInBrowser('the console while something is broken', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();
  const processes: NodeProcess[] = [];
  afterEach(() => Promise.all(processes.splice(0).map((each) => each[Symbol.asyncDispose]())));

  const startOther = async (settings: object) => {
    // The variable is the only way to the script: NodeProcess gives its own settings to the app of verification/apps.
    const environment = { app: [NODE], command: ['env', `PAGE_NODE=${JSON.stringify(settings)}`] };
    const node = new NodeProcess({ name: 'other' } as ConstructorParameters<typeof NodeProcess>[0], environment);
    processes.push(node);
    const { port } = await node.ready();
    return { node, url: `http://127.0.0.1:${String(port)}/gatekeeper` };
  };
  const banner = (page: Page) => page.getByRole('banner');
  const strip = (page: Page) => banner(page).getByRole('alert');
  /** A page that can't be loaded again. */
  const go = (page: Page, at: string) => page.evaluate(`location.hash = ${JSON.stringify(`#/${at}`)}`);
  /** Green badges of the page that are not greyed out. */
  const healthyBadges = (page: Page): Promise<string[]> =>
    page.evaluate(`[...document.querySelectorAll('main .badge.good')]
      .filter((badge) => !getComputedStyle(badge).filter.includes('grayscale')).map((badge) => badge.textContent)`);
  const expectWithin = async (begun: number, told: Promise<void>) => {
    await told;
    expect(performance.now() - begun).toBeLessThan(WITHIN);
  };

  /** Opens each page, and expects it to tell of the fault. */
  const expectOnEachPage = async (page: Page, told: { strip: string | RegExp; label: string; title: string }) => {
    for (const at of PAGES) {
      await go(page, at);
      await page.waitForFunction(`document.title.startsWith(${JSON.stringify(`${told.title} · `)})`);
      await strip(page).filter({ hasText: told.strip }).waitFor();
      await banner(page).getByText(told.label).waitFor();
      expect({ at, line: await banner(page).locator('.health-line').count() }).toEqual({ at, line: 0 });
    }
  };
  const expectNothingHealthy = async (page: Page) => {
    for (const at of PAGES) {
      await go(page, at);
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect({ at, badges: await healthyBadges(page) }).toEqual({ at, badges: [] });
    }
  };

  const startFull = async () => {
    const store = failingStore();
    const gatekeeper = {
      ...allocating('ab'),
      definitions: DEFINITIONS,
      clockTolerance: 10,
      leadership: { enabled: true, lease: '1s' },
    };
    const console = await start({ store: store.definition, gatekeeper });
    await console.gatekeeper.cluster.scope().whenLeader();
    await untilOwned(console, ({ resources }) => resources?.length === 2);
    const { page } = await visit(console.url, { token: TOKENS.define });
    await banner(page).getByText('Live').waitFor();
    await banner(page).locator('.health-line').waitFor();
    return { ...console, store, page };
  };

  it('tells on every page that the store is lost, and nothing looks healthy', async () => {
    const { page, store } = await startFull();
    // Known data are what could look healthy.
    for (const at of PAGES) {
      await go(page, at);
      await gone(page.getByText('Loading…'));
    }
    store.takeAway();
    await expectWithin(performance.now(), strip(page).filter({ hasText: LOST }).waitFor());
    await banner(page).getByText('Stale').waitFor();
    await expectOnEachPage(page, { strip: LOST, label: 'Stale', title: 'No grants' });
    await expectNothingHealthy(page);
    store.giveBack();
    await banner(page).getByText('Live').waitFor();
    await banner(page).locator('.health-line').waitFor();
  });

  it('tells on every page that the quorum is lost', async () => {
    const { page, store } = await startFull();
    store.loseQuorum();
    await expectWithin(performance.now(), strip(page).filter({ hasText: TOO_FEW }).waitFor());
    await expectOnEachPage(page, { strip: TOO_FEW, label: 'No grants', title: 'No grants' });
    store.giveBack();
  });

  it('tells on every page that its node is frozen, until it answers again', async () => {
    const { node, url } = await startOther({ console: SETTINGS, gatekeeper: { leadership: { enabled: true } } });
    const { page } = await visit(url, { token: TOKENS.define });
    await banner(page).locator('.health-line').waitFor();
    const toldAfterFreeze = async () => {
      const begun = performance.now();
      node.freeze();
      await strip(page).filter({ hasText: AGE }).waitFor();
      return performance.now() - begun;
    };
    let told = await toldAfterFreeze();
    // Other work of the machine can only delay it: the quickest of three counts.
    for (let tries = 1; tries < 3 && told >= WITHIN; tries++) {
      node.thaw();
      await banner(page).locator('.health-line').waitFor();
      told = await toldAfterFreeze();
    }
    expect(told).toBeLessThan(WITHIN);
    await expectOnEachPage(page, { strip: AGE, label: 'Offline', title: 'Offline' });
    await expectNothingHealthy(page);
    node.thaw();
    await expectWithin(performance.now(), banner(page).locator('.health-line').waitFor());
    await page.waitForFunction("!document.title.startsWith('Offline')");
  });

  it('tells on every page that its node was killed', async () => {
    const { node, url } = await startOther({ console: SETTINGS, gatekeeper: { leadership: { enabled: true } } });
    const { page } = await visit(url, { token: TOKENS.define });
    await banner(page).locator('.health-line').waitFor();
    await node.kill();
    await expectWithin(performance.now(), strip(page).getByText('No node answers.').waitFor());
    await expectOnEachPage(page, { strip: AGE, label: 'Offline', title: 'Offline' });
    await expectNothingHealthy(page);
  });

  it('tells of another process that was killed in the middle of a run', async () => {
    // The page tells of a lapsed lease for as long as the lease was: long enough for a busy machine to show it.
    const membership = { lease: '4s' };
    const console = await start({ store: memory(), gatekeeper: { membership, definitions: DEFINITIONS } });
    const { page } = await visit(console.url, { token: TOKENS.view, at: '/runs' });
    const { node } = await startOther({
      remote: { url: console.url, token: TOKENS.node },
      // The first entry of a node may come before its membership, and then counts as living for three heartbeats.
      gatekeeper: { membership, heartbeat: '1s', acquirer: 'victim' },
    });
    await node.hears('running', {}, { since: 0 });
    const row = page.getByRole('row').filter({ hasText: 'Jobs.export' }).first();
    await row.getByText('running').waitFor();
    // A node may run a job before its membership is written.
    const isMember = () => console.gatekeeper.membership.participants().some(({ acquirer }) => acquirer === 'victim');
    await eventually('the other process is a member', isMember);
    const begun = performance.now();
    await node.kill();
    await expectWithin(begun, row.getByText('crashed').waitFor());
    await go(page, 'nodes');
    const victim = page.getByRole('row').filter({ hasText: 'victim' });
    await expectWithin(begun, victim.getByText('lapsed').waitFor());
  });
});
