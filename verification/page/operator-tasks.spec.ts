import type { Locator, Page } from 'playwright-core';
import { TOKENS } from '../../test/console/consoles.js';
import { OPERATOR_TASKS, type OperatorTask, type Scene, useOperatorScene } from './operator-scene.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, useBrowser } from './chromium.js';

/** The hand of an operator. */
class Hand {
  constructor(readonly page: Page) {}

  async click(name: string, within: Page | Locator = this.page): Promise<void> {
    await within.getByRole('button', { name, exact: true }).click();
  }

  async open(name: string, within: Page | Locator = this.page): Promise<void> {
    await within.getByRole('link', { name, exact: true }).click();
  }

  async write(label: string, text: string): Promise<void> {
    await this.page.getByLabel(label).fill(text);
  }

  async choose(label: string, choice: string): Promise<void> {
    await this.page.getByRole('combobox', { name: label }).selectOption(choice);
  }

  get dialog(): Locator {
    return this.page.getByRole('dialog');
  }
}

type Work = (hand: Hand, scene: Scene) => Promise<void>;

const groupsOf = async ({ gatekeeper }: Scene) => {
  const { semaphores } = await gatekeeper.state();
  return Object.fromEntries(semaphores.map(({ name, definition }) => [name, definition?.groupPattern]));
};
const pausedBy = async ({ gatekeeper }: Scene) => {
  const { semaphores } = await gatekeeper.state();
  return Object.fromEntries(semaphores.flatMap(({ name, pause }) => (pause ? [[name, pause.by]] : [])));
};

const WORK: Record<OperatorTask, Work> = {
  'Find out why a job does not run': async (hand) => {
    await hand.open('nightly-export');
    await hand.page.getByText(/Paused by bob,.*“ticket 4711”/).waitFor();
    const history = hand.page.getByRole('region', { name: 'History' });
    await history.getByRole('row').filter({ hasText: 'skipped' }).getByText('paused').waitFor();
  },

  'Pause everything for maintenance': async (hand, scene) => {
    await hand.open('Operate');
    await hand.write('Name of the window', 'db');
    await hand.click('Start…');
    await hand.write('Reason', 'the database moves');
    await hand.click('Start', hand.dialog);
    const window = hand.page.getByRole('region', { name: 'db' });
    await window.and(hand.page.locator('.quiet')).waitFor();
    expect(await pausedBy(scene)).toEqual({ 'nightly-export': 'dora', mailing: 'dora', report: 'bob' });
    await hand.click('End…', window);
    await hand.click('End', hand.dialog);
    await window.waitFor({ state: 'detached' });
    expect(await pausedBy(scene)).toEqual({ report: 'bob' });
  },

  'Move a zone and back exactly': async (hand, scene) => {
    const before = await groupsOf(scene);
    await hand.open('Operate');
    await hand.open('Move work');
    await hand.write('Open to the group', 'production');
    await hand.write('New group pattern', 'dr-site');
    await hand.click('Dry run');
    await hand.page.getByRole('heading', { name: 'What would happen 3 semaphores' }).waitFor();
    await hand.click('Apply…');
    await hand.write('Reason', 'drill');
    await hand.click('Migrate', hand.dialog);
    await hand.page.getByText('3 semaphores migrated').first().waitFor();
    expect(Object.values(await groupsOf(scene))).toEqual(['dr-site', 'dr-site', 'dr-site']);
    await hand.open('Changes');
    await hand.click('Undo change of 3 semaphores…');
    await hand.write('Reason', 'the drill is over');
    await hand.click('Undo 3', hand.dialog);
    await hand.page.getByText('3 semaphores undone').first().waitFor();
    expect(await groupsOf(scene)).toEqual(before);
  },

  'Take a job from a frozen node': async (hand, { gatekeeper }) => {
    await hand.open('nightly-export');
    const holder = hand.page.getByRole('list', { name: 'Holders' }).getByRole('listitem');
    await holder.filter({ hasText: 'app2' }).locator('.badge.bad').waitFor();
    await hand.click('Revoke slot 0 of app2');
    await hand.write('Reason', 'app2 stands still');
    await hand.click('Revoke', hand.dialog);
    await holder.waitFor({ state: 'detached' });
    expect(await gatekeeper.tryAcquire('nightly-export')).toBeDefined();
  },

  'Undo a change': async (hand, { gatekeeper }) => {
    await hand.open('report');
    const change = hand.page.getByRole('region', { name: 'Changes' }).getByRole('row').filter({ hasText: 'bob' });
    await change.getByText('more load').waitFor();
    await change.getByRole('button', { name: 'Undo' }).click();
    await hand.dialog.getByText('Permits: 7 1').waitFor();
    await hand.write('Reason', 'wrong cluster');
    await hand.click('Undo', hand.dialog);
    await hand.page.getByText('1 semaphore undone.').waitFor();
    expect((await gatekeeper.definitions.get('report'))?.definition.permits).toBe(1);
  },

  'Failed runs of the last day with their errors': async (hand) => {
    await hand.open('Runs');
    await hand.click('Failed');
    await hand.choose('Period', 'Last day');
    const row = hand.page.getByRole('row').filter({ hasText: 'Jobs.export' });
    await row.getByRole('cell', { name: 'disk full' }).waitFor();
  },

  'Check the health': async (hand) => {
    await hand.open('Health');
    const panel = (name: string) => hand.page.getByRole('region', { name });
    await panel('Store').getByText('connected', { exact: true }).waitFor();
    await panel('Cluster').getByText('current').waitFor();
  },

  'Operate from a phone': async (hand, scene) => {
    await hand.page.setViewportSize({ width: 390, height: 844 });
    const expectToFit = async () =>
      expect(await hand.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await hand.open('report');
    await expectToFit();
    await hand.page.getByText(/Paused by bob,.*“broken”/).waitFor();
    await hand.click('Resume');
    await expectToFit();
    await hand.write('Reason', 'it works again');
    await hand.click('Resume', hand.dialog);
    await hand.dialog.waitFor({ state: 'detached' });
    await expectToFit();
    expect(await pausedBy(scene)).toEqual({});
  },
};

describeInBrowser('an operator does in the page', () => {
  const visit = useBrowser();
  const begin = useOperatorScene(useConsolesWithPage());

  it.each(Object.entries(OPERATOR_TASKS))('"%s"', async (task, arrange) => {
    const scene = await begin();
    await arrange(scene);
    const { page } = await visit(scene.url, { token: TOKENS.define });
    await WORK[task as OperatorTask](new Hand(page), scene);
  });
});
