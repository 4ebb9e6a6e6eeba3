import { afterEach, expect, it } from '@jest/globals';
import { memory } from 'nestjs-gatekeeper';
import { TOKENS } from '../consoles.js';
import { violations } from './axe.js';
import { useConsolesWithPage } from './built-page.js';
import { DEFINITIONS, Scene } from '../scene/scene.js';
import { describeInBrowser, useBrowser } from './chromium.js';

const PAGES = [
  'work',
  'work/nightly-export',
  'work/leader:mailbox',
  'runs',
  'nodes',
  'changes',
  'operate',
  'operate/move',
  'health',
  'nowhere',
];

describeInBrowser('the console', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();
  const scenes: Scene[] = [];
  afterEach(() => Promise.all(scenes.splice(0).map((scene) => scene.close())));
  const startScene = async () => {
    const store = memory();
    const scene = new Scene(store);
    scenes.push(scene);
    await scene.play(Date.now());
    return start({ store, gatekeeper: { definitions: DEFINITIONS, group: 'production' } });
  };

  it.each(['light', 'dark'] as const)(
    'has no fault that axe finds, on any page, in %s',
    async (colorScheme) => {
      const { url } = await startScene();
      const login = await visit(url, { colorScheme });
      expect(await violations(login.page)).toEqual([]);
      const { page } = await visit(url, { colorScheme, token: TOKENS.define });
      for (const at of PAGES) {
        await page.goto(`${url}/#/${at}`);
        await page.getByText('Loading…').waitFor({ state: 'detached' });
        expect({ at, violations: await violations(page) }).toEqual({ at, violations: [] });
      }
      await page.goto(`${url}/#/work/nightly-export`);
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.getByLabel('Permits', { exact: true }).fill('-1');
      await page.locator('.field.faulty').waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByRole('button', { name: 'Remove' }).click();
      expect(await violations(page)).toEqual([]);
    },
    180_000,
  );

  it.each(['work', 'work/nightly-export', 'work/leader:mailbox', 'runs', 'nodes', 'operate/move', 'changes', 'health'])(
    'fits a screen of 360 px: %s',
    async (at) => {
      const { url } = await startScene();
      const viewport = { width: 360, height: 740 };
      const { page } = await visit(url, { token: TOKENS.define, at: `/${at}`, viewport });
      await page.getByText('Loading…').waitFor({ state: 'detached' });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(await violations(page)).toEqual([]);
    },
  );

  it('keeps the theme that was chosen', async () => {
    const { url } = await start();
    const { page } = await visit(url, { token: TOKENS.view, colorScheme: 'light' });
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await ground();
    await page.getByRole('button', { name: 'Theme: system' }).click();
    await page.getByRole('button', { name: 'Theme: light' }).click();
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
    expect(await ground()).not.toBe(light);
    await page.reload();
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
    expect(await ground()).not.toBe(light);
  });
});
