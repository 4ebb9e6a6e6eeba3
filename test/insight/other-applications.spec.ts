import type { NodeInfo } from 'nestjs-gatekeeper';
import { otherApplications } from '../../lib/insight/application-watch.js';
import { type TestNode, useCluster } from '../support/nodes.js';

const MINUTE = 60_000;
const cluster = useCluster();

const publishing = (application: string, options = {}) => ({ heartbeat: '10s', application, ...options });

function sentences({ gatekeeper }: TestNode): string[] {
  return gatekeeper.health().faults.flatMap(({ code, sentence }) => (code === 'other-application' ? [sentence] : []));
}

describe('two applications on one store', () => {
  it('are both warned within a minute if they use the same name, whichever starts first', async () => {
    const nodes = cluster();
    const shop = await nodes.node(publishing('shop', { acquirer: 'shop-1' }));
    await nodes.time.advance(10 * MINUTE);
    expect(sentences(shop)).toEqual([]);
    const billing = await nodes.node(publishing('billing', { acquirer: 'billing-1' }));
    await nodes.time.advance(6000);
    expect(billing.of('other-application')).toMatchObject([{ application: 'shop', names: ['job'], nodes: ['shop-1'] }]);
    await nodes.time.advance(2 * MINUTE);
    expect(shop.of('other-application')).toMatchObject([
      { application: 'billing', names: ['job'], nodes: ['billing-1'] },
    ]);
    for (const node of [shop, billing]) {
      const [sentence] = sentences(node);
      expect(node.log.filter((line) => line === `warn ${sentence}`)).toHaveLength(1);
      expect(node.gatekeeper.health()).toMatchObject({ status: 'degraded', grants: true });
    }
  });

  it('are warned no more once the other one has gone', async () => {
    const nodes = cluster();
    const shop = await nodes.node(publishing('shop'));
    const billing = await nodes.node(publishing('billing'));
    await nodes.time.advance(10_000);
    expect(sentences(shop)).toHaveLength(1);
    await nodes.closeOne(billing);
    await nodes.time.advance(2 * MINUTE);
    expect(sentences(shop)).toEqual([]);
  });

  it.each([
    ['the same application', 'shop', 'job'],
    ['other names', 'billing', 'invoices'],
  ])('are not warned with %s', async (_what, application, name) => {
    const nodes = cluster();
    const one = await nodes.node(publishing('shop'));
    const other = await nodes.node(publishing(application, { definitions: [{ name, duration: '10s' }] }));
    await nodes.time.advance(2 * MINUTE);
    expect([one, other].flatMap(sentences)).toEqual([]);
  });

  it('share the scopes of leadership, too', async () => {
    const nodes = cluster();
    const leading = { definitions: [], leadership: { enabled: true } };
    const one = await nodes.node(publishing('shop', leading));
    await nodes.node(publishing('billing', leading));
    await nodes.time.advance(10_000);
    expect(one.of('other-application')).toMatchObject([{ names: ['leader:default'] }]);
  });
});

describe('the names that applications share', () => {
  const card = (application: string, more: Partial<NodeInfo>) => ({
    ...(application && { application }),
    acquirer: 'a',
    jobs: [],
    ...more,
  });
  const found = (own: Partial<NodeInfo>, other: Partial<NodeInfo>, name = 'billing') => {
    const search = otherApplications(card('shop', own), [card(name, other)]);
    let step = search.next();
    while (!step.done) step = search.next();
    return step.value.flatMap(({ names }) => names);
  };
  const task = (type: string, handles: 'tasks' | 'programs' = 'tasks') => ({
    tasks: [{ type, handles, concurrency: 1, running: 0, completed: 0, failed: 0 }],
  });

  it.each([
    ['the semaphore of a job', { jobs: [{ job: 'A.b', semaphore: 'x' }] }, { defines: ['x'] }, ['x']],
    ['a type of tasks that both handle', task('mail'), task('mail'), ['task:mail']],
    ['a type that programs handle', task('mail'), task('mail', 'programs'), []],
    [
      'jobs of one name under other semaphores',
      { jobs: [{ job: 'A.b', semaphore: 'x' }] },
      { jobs: [{ job: 'A.b' }] },
      [],
    ],
    [
      'the scope in which all allocation is led',
      { defines: ['leader:allocation'] },
      { defines: ['leader:allocation'] },
      [],
    ],
  ])('are found: %s', (_what, own, other, names) => {
    expect(found(own, other)).toEqual(names);
  });

  it('are not looked for at a node that does not say its application', () => {
    expect(found({ defines: ['x'] }, { defines: ['x'] }, '')).toEqual([]);
  });
});
