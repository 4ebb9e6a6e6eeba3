import { memory } from 'nestjs-gatekeeper';
import { scripted } from '../../support/scripted-store.js';
import { serveStore } from './host.js';

it('remote() goes on behind a page that ends with a long key', async () => {
  const { store, definition } = scripted(memory());
  // As PostgreSQL writes a key of 1,000 characters that each need two.
  const next = 'x'.repeat(2000);
  store.records.page = async (_prefix, after) => ({
    texts: new Map([[after ?? 'first', 'text']]),
    ...(!after && { next }),
  });
  const host = await serveStore({ store: definition });
  const client = host.definition.open();
  try {
    const first = await client.records.page('semaphore:');
    expect(first.next).toBe(next);
    expect(await client.records.page('semaphore:', first.next)).toEqual({ texts: new Map([[next, 'text']]) });
  } finally {
    await client.close();
    await host.app.close();
  }
});
