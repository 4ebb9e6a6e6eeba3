import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { memory } from 'nestjs-gatekeeper';
import { TOKENS } from '../../test/console/consoles.js';
import { useConsolesWithPage } from './built-page.js';
import { DEFINITIONS, Scene } from './scene/scene.js';
import { describeInBrowser, useBrowser } from './chromium.js';

const FOLDER = fileURLToPath(new URL('../../docs/images/', import.meta.url));

/** `npm run screenshots`: the pictures that the README shows, of a cluster in the middle of its day. */
describeInBrowser('the pictures of the README', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();
  const store = memory();
  const scene = new Scene(store);
  afterAll(() => scene.close());

  it('are taken in light and dark', async () => {
    await scene.play(Date.now());
    const tokens = [{ token: TOKENS.define, name: 'ann', role: 'define' as const }];
    const { url } = await start({
      store,
      gatekeeper: { definitions: DEFINITIONS, group: 'production', acquirer: 'app4', version: '4.17.2' },
      console: { tokens, environment: 'production' },
    });
    await mkdir(FOLDER, { recursive: true });
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, complaints } = await visit(url, {
        colorScheme,
        token: TOKENS.define,
        viewport: { width: 1200, height: 1030 },
        deviceScaleFactor: 1.5,
      });
      await page.getByRole('banner').getByText('Live').waitFor();
      await page.getByRole('link', { name: 'thumbnail-workers' }).waitFor();
      await page.screenshot({ path: `${FOLDER}console-${colorScheme}.png` });
      expect(complaints).toEqual([]);
    }
  });
});
