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
  const found = (names: readonly string[], other: Partial<NodeInfo>, defined: readonly string[] = []) => {
    const node = { application: 'billing', acquirer: 'a', jobs: [], ...other };
    const fingerprintOf = (name: string) => (defined.includes(name) ? 'fingerprint' : undefined);
    const search = otherApplications({ application: 'shop', names: new Set(names) }, [{ node, fingerprintOf }]);
    let step = search.next();
    while (!step.done) step = search.next();
    return step.value.flatMap((each) => each.names);
  };
  const mail = (handles: 'tasks' | 'programs') => ({
    tasks: [{ type: 'mail', handles, concurrency: 1, running: 0, completed: 0, failed: 0 }],
  });

  it.each<[string, string[], Partial<NodeInfo>, string[], string[]]>([
    ['a name that the other one defines', ['x', 'y'], {}, ['x'], ['x']],
    ['the semaphore of a job of the other one', ['x'], { jobs: [{ job: 'A.b', semaphore: 'x' }] }, [], ['x']],
    ['a type of tasks that both handle', ['task:mail'], mail('tasks'), [], ['task:mail']],
    ['a type that programs handle', ['task:mail'], mail('programs'), [], []],
    ['a job whose semaphore is known only at a call', ['x'], { jobs: [{ job: 'A.b' }] }, [], []],
    ['the scope in which all allocation is led', ['leader:allocation'], {}, ['leader:allocation'], []],
    ['of another application only', ['x'], { application: 'shop' }, ['x'], []],
    ['of a node that does not say its application', ['x'], { application: undefined }, ['x'], []],
  ])('are found: %s', (_what, names, other, defined, shared) => {
    expect(found(names, other, defined)).toEqual(shared);
  });
});
