import type { GatekeeperService } from 'nestjs-gatekeeper';
import type { Page } from 'playwright-core';
import { until } from '../../test/support/apps.js';
import { TOKENS } from '../../test/console/consoles.js';
import { useConsolesWithPage } from './built-page.js';
import { crowd, crowdOf } from '../../test/console/scene/crowd.js';
import { describeInBrowser, gone, useBrowser } from './chromium.js';

const MB = 1024 * 1024;
/** Five a second, for an hour. */
const HOUR_OF_EVENTS = 18_000;
/** Events until every code path has been taken and compiled. */
const WARM_UP = 1500;

describeInBrowser('a thousand semaphores on a hundred nodes', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();

  it('are shown, and only those in view are in the document', async () => {
    const { url, gatekeeper } = await start(await crowd());
    const { page } = await visit(url, { token: TOKENS.define });
    await page.getByText('1,000 semaphores').waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(60);

    const refreshes: number[] = [];
    page.on('response', (response) => {
      if (!response.url().includes('/semaphore-parts?known=')) return;
      // A page that is closed meanwhile has no body any more.
      void response.body().then(
        ({ length }) => refreshes.push(length),
        () => undefined,
      );
    });
    await showOneMore(page, gatekeeper);
    await until(() => refreshes.length > 2);
    console.log(`a refresh loads ${refreshes.join(', ')} bytes`);
    expect(Math.max(...refreshes)).toBeLessThan(50 * 1024);

    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await page.getByRole('link', { name: 'thumbnails-0998' }).waitFor();
    await page.getByLabel('Search semaphores').fill('billing 77');
    await page.getByText('10 of 1,000 semaphores').waitFor();
    expect(page.url()).toContain('search=billing+77');
    await page.reload();
    await page.getByText('10 of 1,000 semaphores').waitFor();

    await page.goto(`${url}/#/nodes`);
    await page.getByText('100 nodes', { exact: true }).waitFor();
  });

  /**
   * All events of an hour come through the stream, as fast as they can be made. What an hour has besides is not played:
   * the page loads the list again as often as it may in that time (every 2 s or so), not 1,400 times.
   */
  it('change as often as in an hour at five events a second, and the page does not grow', async () => {
    const { url, gatekeeper } = await start(await crowd());
    const { page } = await visit(url, { token: TOKENS.define });
    await page.getByRole('banner').getByText('Live').waitFor();
    // The rows in view count as elements, also on a machine that takes long to paint them.
    await page.getByRole('link', { name: 'backup-0006' }).waitFor();
    const told = { events: 0 };
    gatekeeper.events$.subscribe(() => told.events++);
    const playUntil = async (total: number) => {
      for (let index = 0; told.events < total; index++) {
        const permit = await gatekeeper.tryAcquire(crowdOf(1000)[index % 1000]!.name);
        await permit?.release();
      }
    };
    await playUntil(WARM_UP);
    const sizes = [await size(page, gatekeeper)];
    for (const part of [1, 2, 3]) {
      await playUntil(WARM_UP + (part / 3) * HOUR_OF_EVENTS);
      sizes.push(await size(page, gatekeeper));
    }
    console.log(`heap after ${told.events} events, by thirds: ${sizes.map(({ heap }) => inMb(heap)).join(', ')} MB`);
    expect(told.events).toBeGreaterThanOrEqual(WARM_UP + HOUR_OF_EVENTS);
    const [before, after] = [sizes[0]!, sizes.at(-1)!];
    // A list that is being read just then goes away again.
    if (after.heap - before.heap >= MB) await until(async () => (await size(page, gatekeeper)).heap - before.heap < MB);
    expect(after.elements - before.elements).toBeLessThan(200);
  });
});

/** Shows a change in the first row: then the page has heard of all that was sent before, too. */
async function showOneMore(page: Page, gatekeeper: GatekeeperService): Promise<void> {
  const permit = await gatekeeper.acquire('backup-0006');
  await page.getByText('1 of 1 permit').waitFor();
  await permit.release();
  await gone(page.getByText('1 of 1 permit'));
}

async function size(page: Page, gatekeeper: GatekeeperService): Promise<{ heap: number; elements: number }> {
  await showOneMore(page, gatekeeper);
  const client = await page.context().newCDPSession(page);
  await client.send('HeapProfiler.collectGarbage');
  const { usedSize } = await client.send('Runtime.getHeapUsage');
  await client.detach();
  return { heap: usedSize, elements: Number(await page.evaluate('document.querySelectorAll("*").length')) };
}

function inMb(bytes: number): string {
  return (bytes / MB).toFixed(1);
}
