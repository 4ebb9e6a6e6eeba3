import { memory } from 'nestjs-gatekeeper';
import type { Page } from 'playwright-core';
import { until } from '../../test/support/apps.js';
import { allocating, allocatingFrom, untilOwned } from '../../test/console/allocating.js';
import { TOKENS } from '../../test/console/consoles.js';
import { violations } from './axe.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, gone, useBrowser } from './chromium.js';

const at = '/nodes/allocation';

describeInBrowser('the allocation view', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();

  /** app1 and app2 own three resources each. */
  async function two() {
    const store = memory();
    const [one] = [
      await start({ store, gatekeeper: { acquirer: 'app1', ...allocating('abcdef') } }),
      await start({ store, gatekeeper: { acquirer: 'app2', ...allocating('abcdef') } }),
    ];
    const isEven = ({ owned }: { owned: number }) => owned === 3;
    await untilOwned(one!, ({ nodes }) => nodes.length === 2 && nodes.every(isEven));
    return one!;
  }

  it('shows nodes by resources, and what would move if a node went', async () => {
    const { url } = await two();
    const { page, complaints } = await visit(url, { token: TOKENS.view, at: '/nodes' });
    await page.getByRole('link', { name: 'Allocation', exact: true }).click();
    const owners = page.getByRole('group', { name: 'Owners' });
    await owners.getByRole('columnheader', { name: 'app2' }).waitFor();
    const rows = await owners.getByRole('row').allTextContents();
    expect(rows.filter((row) => /^[a-f]app[12](owns itmay own it|may own itowns it)$/.test(row))).toHaveLength(6);
    await page.getByRole('button', { name: 'What if it goes? app2' }).click();
    await page.getByRole('heading', { name: 'If app2 goes: 3 resources move' }).waitFor();
    await page.getByText(/^3 .* app2 .* app1: ./).waitFor();
    expect(await page.getByRole('button', { name: /Drain|Pin/ }).count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('drains a node after a look at what would move, and ends the drain', async () => {
    const { url } = await two();
    const { page } = await visit(url, { token: TOKENS.operate, at });
    const node = page.getByRole('list', { name: 'Nodes of this group' }).getByRole('listitem').first();
    await node.getByRole('button', { name: 'Drain' }).waitFor();
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 844 });
      const places = [node.locator('.share-bar'), ...(await node.getByRole('button').all())];
      const [share, first, second] = await Promise.all(places.map((each) => each.boundingBox()));
      expect([width, apart(share!, first!) <= 24, apart(first!, second!) <= 24]).toEqual([width, true, true]);
    }
    await page.setViewportSize({ width: 1280, height: 844 });
    await page.getByRole('button', { name: 'Drain app2' }).click();
    await page.getByText(/^3 .* app2 .* app1: .*drained$/).waitFor();
    await act(page, 'Drain', 'new disks');
    const nodes = page.getByRole('list', { name: 'Nodes of this group' });
    await nodes.getByText('6 resources').waitFor();
    await nodes.getByText(/can’t own/).waitFor();
    await page
      .getByRole('cell', { name: /^excluded: / })
      .nth(5)
      .waitFor();
    await page.getByRole('button', { name: 'End the drain of app2' }).click();
    await act(page, 'End the drain', '');
    await nodes.getByText('3 resources').nth(1).waitFor();
    await page.goto(`${url}/#/changes`);
    await page.getByRole('row', { name: /otto.*drain.*allocation:orders.*app2.*new disks/s }).waitFor();
  });

  it('pins a resource to the chosen node', async () => {
    const { url } = await two();
    const { page } = await visit(url, { token: TOKENS.operate, at });
    await page.getByRole('button', { name: 'Pin a' }).click();
    await page.getByLabel('Node', { exact: true }).selectOption('app2');
    expect(await violations(page)).toEqual([]);
    await act(page, 'Pin', '');
    await page
      .getByRole('row', { name: /^a app2 pinned to app2 Unpin a excluded: it is pinned to app2 owns it, pinned here/ })
      .waitFor();
    await page.getByRole('button', { name: 'Unpin a' }).click();
    await act(page, 'Unpin', '');
    await gone(page.getByText('pinned to app2'));
  });

  it('counts the smaller set that it shows to be in doubt', async () => {
    let letters = 'abcdef';
    const one = await start({ gatekeeper: { acquirer: 'app1', ...allocatingFrom(() => letters) } });
    await untilOwned(one, ({ total, unowned }) => total === 6 && unowned === 0);
    letters = 'ab';
    await one.gatekeeper.allocation.group('orders').rebalance();
    const { page, complaints } = await visit(one.url, { token: TOKENS.operate, at });
    await page.getByRole('button', { name: 'Count the smaller set' }).click();
    await page
      .getByRole('dialog')
      .getByText(/2 of 6/)
      .waitFor();
    expect(await violations(page)).toEqual([]);
    await act(page, 'Count the smaller set', 'the shop closed');
    await untilOwned(one, ({ total, doubt }) => total === 2 && !doubt);
    await gone(page.getByRole('button', { name: 'Count the smaller set' }));
    expect(complaints).toEqual([]);
  });

  it('shows resources without an owner first, in red', async () => {
    const { url, gatekeeper } = await start({ gatekeeper: { acquirer: 'app1', ...allocating('abc') } });
    await gatekeeper.allocation.group('orders').drain('app1');
    const { page } = await visit(url, { token: TOKENS.view, at });
    await page
      .getByRole('alert')
      .getByText(/\b3 of 3\b/)
      .waitFor();
    const rows = page.getByRole('group', { name: 'Owners' }).locator('tr.gap-row');
    await rows.nth(2).waitFor();
    expect(await rows.first().textContent()).toContain('no owner');
  });

  it('shows which resources moved, and finds those of a resource and of a node', async () => {
    const one = await two();
    const { page, complaints } = await visit(one.url, { token: TOKENS.view, at });
    await one.gatekeeper.allocation.group('orders').drain('app2');
    const moves = page.getByRole('group', { name: 'Moves' });
    const drained = moves.getByRole('row', { name: /app2 app1 .*drained/ });
    await drained.waitFor();
    const [resource] = await drained.locator('code').allTextContents();
    expect(await moves.getByRole('row').nth(1).textContent()).toContain('drained');
    expect(await violations(page)).toEqual([]);
    await page.getByLabel('Search moved resources').fill(resource!);
    const found = async () => new Set(await moves.locator('code').allTextContents());
    await until(async () => (await found()).size === 1);
    expect(await found()).toEqual(new Set([resource]));
    await page.getByLabel('From or to node').selectOption('app2');
    const isOfNode = (row: string) => row.includes('app2');
    await until(async () => {
      const rows = await moves.locator('tbody tr:has(code)').allTextContents();
      return rows.length > 0 && rows.every(isOfNode);
    });
    expect(await moves.getByText(/drained/).count()).toBe(2);
    expect(page.url()).toContain(`moved=${resource}&of=app2`);
    await page.getByLabel('Search moved resources').fill('nothing like it');
    await page.getByText('Nothing matches.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('does not appear where it is not used', async () => {
    const { url } = await start();
    const { page } = await visit(url, { token: TOKENS.view, at: '/nodes' });
    await page.getByText('1 node', { exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'Allocation', exact: true }).count()).toBe(0);
    await page.goto(`${url}/#${at}`);
    await page.getByText('The answering node takes part in no allocation group.').waitFor();
  });
});

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** px between two boxes, across or down. */
function apart(one: Box, other: Box): number {
  const across = Math.max(other.x - one.x - one.width, one.x - other.x - other.width);
  const down = Math.max(other.y - one.y - one.height, one.y - other.y - other.height);
  return Math.max(across, down);
}

/** Confirms a dialog. */
async function act(page: Page, verb: string, reason: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill(reason);
  await dialog.getByRole('button', { name: verb, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}
