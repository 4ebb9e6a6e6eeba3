import type { BrowserContext, Page } from 'playwright-core';
import { until } from '../../test/support/apps.js';
import { removed } from '../../test/support/removed.js';
import { type Console, TOKENS } from '../../test/console/consoles.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, gone, useBrowser } from './chromium.js';

const READING = /\/api\/semaphores\/nightly$/;
const PUT = { name: 'Put into force' };
/** The form is there until the change is made; its button has another name meanwhile. */
const EDIT = { name: 'Edit the definition' };
const CODE = [{ name: 'nightly', groupPattern: 'default', duration: '1m' }];

describeInBrowser('operators', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();
  const at = '/work/nightly';
  const operator = async ({ url }: Console) => (await visit(url, { token: TOKENS.define, at })).page;

  it('edits while it sees which nodes would match, and what is wrong at the field', async () => {
    const console = await start({ gatekeeper: { definitions: CODE } });
    const page = await operator(console);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByText('1 of 1 living node matches').waitFor();
    await page.getByLabel('Acquirer pattern').fill('app[2');
    await page.locator('.field.faulty', { hasText: 'RE2' }).waitFor();
    expect(await page.getByRole('button', PUT).isDisabled()).toBe(true);

    await page.getByLabel('Acquirer pattern').fill('app[23]');
    await page.getByText('0 of 1 living node match: nothing would run').waitFor();
    await page.getByLabel('Duration').fill('2m');
    await page.getByLabel('Reason').fill('app1 is drained');
    await page.getByRole('button', PUT).click();
    await page.getByText('is changed, for the very next decision').waitFor();
    await page.getByText('code says .*').waitFor();

    const state = await console.gatekeeper.definitions.get('nightly');
    expect(state?.definition).toMatchObject({ groupPattern: 'default', acquirerPattern: 'app[23]', duration: 120_000 });
    expect(state?.change).toMatchObject({ by: 'dora', reason: 'app1 is drained' });
  });

  it('tells the slower of two who was faster, and keeps what they typed', async () => {
    const console = await start({ gatekeeper: { definitions: CODE } });
    const one = await operator(console);
    // A page that hears of the change at once would show the conflict before the try: this one does not.
    const { page: two } = await visit(console.url, { token: TOKENS.define, at, prepare: withoutEvents });
    await two.getByText('Polling').waitFor();
    await two.route(READING, (route) => (route.request().method() === 'GET' ? route.abort() : route.fallback()));
    for (const page of [one, two]) await page.getByRole('button', { name: 'Edit' }).click();
    await one.getByLabel('Duration').fill('3m');
    await two.getByLabel('Permits', { exact: true }).fill('5');
    await one.getByLabel('Reason').fill('a longer run');
    await one.getByRole('button', PUT).click();
    await gone(one.getByRole('form', EDIT));

    await two.getByRole('button', PUT).click();
    const conflict = two.getByRole('alert').filter({ hasText: 'changed this meanwhile' });
    await conflict.waitFor();
    expect(await conflict.innerText()).toMatch(/dora changed this meanwhile \(edit, .*\): “a longer run”/);
    expect((await console.gatekeeper.definitions.get('nightly'))?.definition.permits).toBe(1);

    await two.unroute(READING);
    await two.getByRole('button', { name: 'Show what is in force now, keep my input' }).click();
    await until(async () => (await two.getByLabel('Duration').inputValue()) === '3m');
    await conflict.waitFor({ state: 'detached' });
    expect(await two.getByLabel('Permits', { exact: true }).inputValue()).toBe('5');
    await two.getByRole('button', PUT).click();
    await gone(two.getByRole('form', EDIT));
    const { definition } = (await console.gatekeeper.definitions.get('nightly'))!;
    expect(definition).toMatchObject({ permits: 5, duration: 180_000 });
  });

  it('pauses with a reason and resumes', async () => {
    const console = await start({ gatekeeper: { definitions: CODE } });
    const page = await operator(console);
    await page.getByRole('button', { name: 'Pause' }).click();
    await act(page, 'Pause', 'the disk is full');
    await page.locator('.panel', { hasText: 'Paused by dora' }).waitFor();
    expect((await console.gatekeeper.definitions.get('nightly'))?.pause).toMatchObject({ reason: 'the disk is full' });
    await page.getByText('nightly” is paused').waitFor();

    await page.getByRole('button', { name: 'Resume' }).click();
    await act(page, 'Resume');
    await page.locator('.panel', { hasText: 'Paused by dora' }).waitFor({ state: 'detached' });
    expect((await console.gatekeeper.definitions.get('nightly'))?.pause).toBeUndefined();
  });

  it('revokes a permit, whose holder hears of it', async () => {
    const console = await start({ gatekeeper: { definitions: CODE } });
    const permit = await console.gatekeeper.tryAcquire('nightly');
    const page = await operator(console);
    await page.getByRole('button', { name: 'Revoke slot 0 of app1' }).click();
    await act(page, 'Revoke', 'it hangs');
    await page.getByText('No permit is held.').waitFor();
    await until(() => permit!.signal.aborted);
  });

  it('resets an overridden definition to the one in code', async () => {
    const console = await start({ gatekeeper: { definitions: CODE } });
    await console.gatekeeper.definitions.edit('nightly', { permits: 7 });
    const page = await operator(console);
    await page.getByText('code says 1').waitFor();
    // The server would refuse it.
    await page.getByText('Can’t be removed: the code of app1 defines it.').waitFor();
    expect(await page.getByRole('button', { name: 'Remove' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Reset to the code' }).click();
    await act(page, 'Reset');
    await gone(page.getByText('code says 1'));
    expect((await console.gatekeeper.definitions.get('nightly'))?.definition.permits).toBe(1);
  });

  it('resets a removed definition to the one in code, and says who removed it', async () => {
    const console = await start({ gatekeeper: { definitions: CODE } });
    await removed(console.gatekeeper, 'nightly', { by: 'bob', reason: 'by mistake' });
    const page = await operator(console);
    await page.getByText('The definition was removed by bob: “by mistake”.').waitFor();
    await page.getByText(/nothing runs until it is reset/).waitFor();
    await page.getByRole('button', { name: 'Reset to the code' }).click();
    await act(page, 'Reset');
    await gone(page.getByText('The definition was removed'));
    expect((await console.gatekeeper.definitions.get('nightly'))?.source).toBe('code');
  });

  it('resets what an operator set to the same as the code, so that it follows the code again', async () => {
    const console = await start({ gatekeeper: { definitions: CODE } });
    await console.gatekeeper.definitions.edit('nightly', { permits: 7 });
    await console.gatekeeper.definitions.edit('nightly', { permits: 1 });
    const page = await operator(console);
    await page.getByRole('button', { name: 'Reset to the code' }).click();
    await act(page, 'Reset');
    await gone(page.getByRole('button', { name: 'Reset to the code' }));
    expect((await console.gatekeeper.definitions.get('nightly'))?.source).toBe('code');
  });

  it('removes only once its name was typed', async () => {
    const console = await start();
    await console.gatekeeper.definitions.define({ name: 'nightly', duration: '1m' });
    const page = await operator(console);
    await page.getByRole('button', { name: 'Remove' }).click();
    const remove = page.getByRole('dialog').getByRole('button', { name: 'Remove' });
    await page.getByLabel('Type the name to confirm').fill('nightl');
    expect(await remove.isDisabled()).toBe(true);
    await page.getByLabel('Type the name to confirm').fill('nightly');
    await remove.click();
    await page.waitForURL(/#\/work$/);
    expect(await console.gatekeeper.definitions.get('nightly')).toBeUndefined();
  });

  it('defines a semaphore that no code knows', async () => {
    const console = await start();
    const { page } = await visit(console.url, { token: TOKENS.define });
    await page.getByRole('button', { name: 'Define' }).click();
    await page.getByLabel('Name').fill('by-hand');
    await page.getByRole('dialog').getByRole('button', { name: 'Define' }).click();
    await page.getByRole('heading', { level: 1, name: 'by-hand' }).waitFor();
    expect((await console.gatekeeper.definitions.get('by-hand'))?.definition.duration).toBe(300_000);
  });

  it('gives the focus back when a dialog is left by the Escape key', async () => {
    const page = await operator(await start({ gatekeeper: { definitions: CODE } }));
    await page.getByRole('button', { name: 'Pause' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Pause');
  });

  it('changes nothing with a token that may only look', async () => {
    const { url, gatekeeper } = await start({ gatekeeper: { definitions: CODE } });
    await gatekeeper.tryAcquire('nightly');
    const { page } = await visit(url, { token: TOKENS.view, at });
    await page.getByText('Last change').or(page.getByText('As the code declares it.')).first().waitFor();
    expect(await page.getByText('This needs the role').count()).toBe(0);
    for (const name of ['Pause', 'Edit', 'Remove', /Revoke/])
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    for (const path of ['maintenance', 'migrate']) {
      await page.goto(`${url}/#/${path}`);
      await page.getByText(/“operate”.*“view”/).waitFor();
    }
    // And were the controls there, the API would refuse.
    const status = await page.evaluate(
      `fetch(new URL('api/semaphores/nightly/pause', location.href.split('#')[0]), { method: 'POST', body: '{}',
        headers: { authorization: 'Bearer ${TOKENS.view}', 'content-type': 'application/json' } }).then((answer) => answer.status)`,
    );
    expect(status).toBe(403);
    expect((await gatekeeper.definitions.get('nightly'))?.pause).toBeUndefined();
  });

  it('changes nothing where the console is read-only', async () => {
    const tokens = [{ token: TOKENS.define, name: 'dora', role: 'define' as const }];
    const { url } = await start({ gatekeeper: { definitions: CODE }, console: { tokens, readOnly: true } });
    const { page } = await visit(url, { token: TOKENS.define, at });
    await page.getByText('This console is read-only.').waitFor();
    expect(await page.getByRole('banner').innerText()).toContain('read-only');
    expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
  });
});

/** Confirms a dialog. */
async function act(page: Page, verb: string, reason = ''): Promise<void> {
  await page.getByRole('dialog').getByLabel('Reason').fill(reason);
  await page.getByRole('dialog').getByRole('button', { name: verb }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

function withoutEvents(context: BrowserContext): Promise<unknown> {
  return context.route(/\/api\/events$/, (route) => route.abort());
}
