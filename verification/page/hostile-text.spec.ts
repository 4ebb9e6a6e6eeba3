import { memory } from 'nestjs-gatekeeper';
import { TOKENS } from '../../test/console/consoles.js';
import { useConsolesWithPage } from './built-page.js';
import { cardsOf, publishCards } from '../../test/console/scene/cards.js';
import { describeInBrowser, useBrowser } from './chromium.js';

const IMAGE = '<img src=x onerror="window.hacked=1">';
const SCRIPT = `"><script>window.hacked=1</script>`;
const LINK = 'javascript:window.hacked=1';

describeInBrowser('what people and nodes call things', () => {
  const visit = useBrowser();
  const start = useConsolesWithPage();

  it('is shown as it was written, and is never HTML', async () => {
    const store = memory();
    const [card] = cardsOf(1, Date.now());
    await publishCards(store.open(), [{ ...card!, acquirer: IMAGE, group: SCRIPT, host: LINK, version: IMAGE }]);
    const { url, gatekeeper } = await start({ store, gatekeeper: { acquirer: SCRIPT } });
    for (const name of [IMAGE, SCRIPT, LINK]) {
      await gatekeeper.definitions.define({ name, duration: '1m' }, { by: IMAGE, reason: SCRIPT });
    }
    await gatekeeper.tryAcquire(IMAGE, { holder: IMAGE });
    await gatekeeper.definitions.pause(SCRIPT, { by: IMAGE, reason: IMAGE });
    await gatekeeper.run(LINK, () => Promise.reject(new Error(IMAGE)), { job: SCRIPT }).catch(() => undefined);

    const { page, complaints } = await visit(url, { token: TOKENS.define });
    await page.getByRole('link', { name: IMAGE }).waitFor();
    for (const name of [IMAGE, SCRIPT, LINK]) {
      await page.goto(`${url}/#/work`);
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      await page.getByText(`Last change`).waitFor();
    }
    for (const at of ['runs', 'nodes', 'changes', 'operate/move']) {
      await page.goto(`${url}/#/${at}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      if (at !== 'operate/move') await page.getByText(IMAGE).filter({ visible: true }).first().waitFor();
    }
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});
