import { partsOf } from '../../lib/gatekeeper/parts.js';
import { TOKENS } from '../../test/console/consoles.js';
import { violations } from './axe.js';
import { useConsolesWithPage } from './built-page.js';
import { describeInBrowser, useBrowser } from './chromium.js';

describeInBrowser('schedules in the console', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();

  it('are shown with those that the node can not read, which say so', async () => {
    const { url, gatekeeper } = await start();
    const { tasks, openStore } = partsOf(gatekeeper);
    tasks.schedules.add('report', '0 3 * * *', () => undefined);
    tasks.start();
    const client = openStore();
    await client.tasks.compareAndSet('@import', undefined, 'p|import|{"v":99}');
    await client.close();
    const { page, complaints } = await visit(url, { token: TOKENS.view, at: '/tasks/schedules' });
    await page.getByRole('row', { name: /report.*0 3 \* \* \*.*once-per-tick.*none yet/s }).waitFor();
    await page
      .getByRole('row', { name: /import.*not on this node.*can’t be read by this node.*can’t be read.*unknown/s })
      .waitFor();
    expect(await violations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
