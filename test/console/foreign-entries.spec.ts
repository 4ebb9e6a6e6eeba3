import { memory } from 'nestjs-gatekeeper';
import { useConsoles } from './consoles.js';

/** Entries that another program, or a leaked node token, may leave in the store; every page of every node reads them. */
const FOREIGN = [
  'no JSON',
  'null',
  '[]',
  '{}',
  '{"kind":"run"}',
  '{"kind":"run","semaphore":"job","job":"Jobs.work","node":null,"at":1e16,"took":9,"outcome":"ok"}',
  '{"__proto__":{"semaphore":"job"},"constructor":1}',
  `{"at":1,"action":"edit","semaphore":${JSON.stringify('x'.repeat(60_000))},"by":7}`,
];

/** A job that is due each ms: any run of it took too long, and a warning says on which node. */
const BUSY = { job: 'Jobs.work', semaphore: 'job', schedule: { kind: 'interval', expression: '1', interval: 1 } };

describe('foreign entries in the store', () => {
  const start = useConsoles();

  it('leave every page of the console as it is', async () => {
    const store = memory();
    const { get, send, gatekeeper } = await start({ store, gatekeeper: { heartbeat: '1h' } });
    await send('POST', '/api/semaphores', { name: 'job', duration: '10s' });
    const raw = store.open();
    const [card] = await gatekeeper.registry.nodes();
    // Sorts behind every instance, which begins with a hexadecimal digit.
    const busy = { ...card, instance: 'z-busy', jobs: [BUSY] };
    await raw.records.compareAndSet('nodes:busy', undefined, JSON.stringify({ v: 1, nodes: [busy] }));
    for (const journal of ['runs', 'audit']) await raw.journal(journal).append(FOREIGN);
    for (const [index, text] of FOREIGN.entries())
      await raw.records.compareAndSet(`nodes:foreign-${index}`, undefined, `{"v":1,"nodes":[${text}]}`);
    const pages = ['semaphores', 'semaphores/job', 'explain/job', 'nodes', 'history', 'audit', 'session'];
    const answers = await Promise.all(pages.map((page) => get(`/api/${page}`)));
    expect(answers.map(({ status }) => status)).toEqual(pages.map(() => 200));
    expect(answers[0]!.json.semaphores).toMatchObject([{ name: 'job' }]);
    expect(answers[3]!.json.nodes).toMatchObject([gatekeeper.node, { instance: 'z-busy' }]);
    expect(gatekeeper.health().unreadable).toMatchObject({ runs: FOREIGN.length, nodes: FOREIGN.length });
    await raw.close();
  });
});
