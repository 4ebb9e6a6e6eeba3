import type { Page } from 'playwright-core';
import { TOKENS } from '../../test/console/consoles.js';
import { crowdOf } from '../../test/console/scene/crowd.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, useBrowser } from './chromium.js';

/** An operator's, which can be removed. */
const JOB = { name: 'nightly', groupPattern: 'default', duration: '1m' };

describeInBrowser('by keyboard', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();
  const operator = async (at = '/work/nightly') => {
    const { url, gatekeeper } = await start();
    await gatekeeper.definitions.define(JOB);
    await gatekeeper.tryAcquire('nightly');
    return { page: (await visit(url, { token: TOKENS.define, at })).page, gatekeeper };
  };

  it('each action of a semaphore is reached, and is done without a mouse', async () => {
    const { page, gatekeeper } = await operator();
    await page.getByRole('button', { name: 'Revoke' }).waitFor();
    const reached = await tabThrough(page);
    for (const name of ['Pause', 'Remove', 'Edit', 'Revoke slot 0 of app1', 'All work', 'Nodes', 'Sign out'])
      expect(reached).toContainEqual(expect.stringContaining(name));
    await page.getByRole('button', { name: 'Pause' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('the disk is full');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await gatekeeper.definitions.get('nightly'))?.pause).toMatchObject({ reason: 'the disk is full' });
  });

  it('the focus stays in a dialog, and comes back from it', async () => {
    const { page } = await operator();
    await page.getByRole('button', { name: 'Remove' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    for (let presses = 0; presses < 8; presses++) {
      await page.keyboard.press('Tab');
      expect(
        await page.evaluate(`document.activeElement === document.body || !!document.activeElement.closest('dialog')`),
      ).toBe(true);
    }
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Remove');
  });

  it('the focus goes to the heading when what had it is gone', async () => {
    const { page } = await operator();
    await page.getByRole('button', { name: 'Revoke' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('nightly');
  });

  it('an edit is left by Escape, and the focus is on its button again', async () => {
    const { page } = await operator();
    await page.getByRole('button', { name: 'Edit' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Group pattern').waitFor();
    expect(await page.evaluate('document.activeElement.value')).toBe('default');
    await page.keyboard.press('Escape');
    await page.getByLabel('Group pattern').waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Edit');
  });

  it('the result is announced in a region that was there before, and is not behind a dialog', async () => {
    const { page } = await operator();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.evaluate(`
      window.told = [];
      new MutationObserver(() => told.push(Boolean(document.querySelector('dialog')))).observe(
        document.querySelector('.notices[aria-live]'), { childList: true });
    `);
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByText('nightly” is paused').waitFor();
    expect(await page.evaluate('told')).toEqual([false]);
  });

  it('what many came to has the focus, once what began it is gone', async () => {
    const { page } = await operator('/maintenance');
    await page.getByRole('button', { name: 'Pause…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByText('1 semaphore paused. Done.').waitFor();
    expect(await page.evaluate(`document.activeElement.getAttribute('aria-label')`)).toBe('Progress');
  });
});

describeInBrowser('a user who comes back from a semaphore', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();

  it.each(['Back', 'All work'])('by “%s” finds its row where it was, with the focus on it', async (way) => {
    const { url } = await start({ gatekeeper: { definitions: crowdOf(300) } });
    const { page } = await visit(url, { token: TOKENS.view, at: '/work?search=i' });
    await page.getByText('150 of 300 semaphores').waitFor();
    await page.evaluate('scrollTo(0, 6300)');
    const link = page.getByRole('link', { name: 'reindex-0101' });
    await link.waitFor();
    const before = (await link.boundingBox())!;
    await link.click();
    await page.getByRole('heading', { level: 1, name: 'reindex-0101' }).waitFor();
    await page.getByText('Last change').or(page.getByText('As the code')).first().waitFor();
    if (way === 'Back') await page.goBack();
    else await page.getByRole('link', { name: way }).click();
    await link.waitFor();
    await page.waitForFunction(`document.activeElement.textContent === 'reindex-0101'`);
    expect(await page.getByLabel('Search semaphores').inputValue()).toBe('i');
    expect(Math.abs((await link.boundingBox())!.y - before.y)).toBeLessThan(2);
  });
});

/** The texts of all that the Tab key comes by, once around. */
async function tabThrough(page: Page): Promise<string[]> {
  const texts: string[] = [];
  await page.evaluate('document.activeElement.blur()');
  for (;;) {
    await page.keyboard.press('Tab');
    const text = await focused(page);
    if (text === '' || texts.length > 60) return texts;
    texts.push(text);
  }
}

/** Accessible name of the focused element; empty without a focus. */
async function focused(page: Page): Promise<string> {
  return String(
    await page.evaluate(`document.activeElement === document.body ? ''
      : (document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim() || '?'`),
  );
}
