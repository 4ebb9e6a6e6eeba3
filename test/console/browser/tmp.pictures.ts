import { afterAll, expect, it } from '@jest/globals';
import { memory } from 'nestjs-gatekeeper';
import { TOKENS } from '../consoles.js';
import { useConsolesWithPage } from './built-page.js';
import { DEFINITIONS, Scene } from '../scene/scene.js';
import { describeInBrowser, useBrowser } from './chromium.js';

describeInBrowser('pictures', () => {
  const start = useConsolesWithPage();
  const visit = useBrowser();
  const store = memory();
  const scene = new Scene(store);
  afterAll(() => scene.close());
  it('are taken', async () => {
    await scene.play(Date.now());
    const tokens = [{ token: TOKENS.define, name: 'ann', role: 'define' as const }];
    const { url } = await start({
      store,
      gatekeeper: { definitions: DEFINITIONS, group: 'production', acquirer: 'app4', version: '4.17.2' },
      console: { tokens, environment: 'production' },
    });
    const all: string[] = [];
    for (const [name, at, width, scheme] of [
      ['work', '/work', 1200, 'light'],
      ['leaders', '/work?kind=leader', 1200, 'light'],
      ['leader', '/work/leader:mailbox', 1200, 'light'],
      ['leader-dark', '/work/leader:mailbox', 1200, 'dark'],
      ['leader-narrow', '/work/leader:mailbox', 360, 'light'],
      ['work-narrow', '/work', 360, 'light'],
      ['runs', '/runs', 1200, 'light'],
      ['nodes', '/nodes', 1200, 'light'],
      ['allocation', '/nodes/allocation', 1200, 'light'],
      ['changes', '/changes', 1200, 'light'],
      ['operate', '/operate', 1200, 'light'],
      ['move', '/operate/move', 1200, 'dark'],
    ] as const) {
      const { page, complaints } = await visit(url, {
        colorScheme: scheme,
        token: TOKENS.define,
        at,
        viewport: { width, height: 900 },
      });
      await page.getByText('Loading…').first().waitFor({ state: 'detached' });
      await page.getByRole('banner').getByText('Live').waitFor({ state: 'attached' });
      await page.waitForTimeout(400);
      await page.screenshot({ path: `/tmp/shots/${name}.png`, fullPage: true });
      all.push(...complaints);
      if (name === 'leader') {
        await page.getByRole('button', { name: 'Step down' }).click();
        await page.screenshot({ path: `/tmp/shots/step-down.png` });
      }
    }
    expect(all).toEqual([]);
  }, 120000);
});
