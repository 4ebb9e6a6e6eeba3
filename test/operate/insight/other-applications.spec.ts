import type { NodeInfo } from 'nestjs-gatekeeper';
import { single } from '../../../lib/tasks/index.js';
import { joinedSentence, otherApplications } from '../../../lib/operate/insight/application-watch.js';
import { type TestNode, useCluster } from '../../support/nodes.js';

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

describe('names that code only uses', () => {
  const NONE = { definitions: [] };
  const uses: [string, string, (node: TestNode) => Promise<unknown>][] = [
    ['a semaphore', 'import', ({ gatekeeper }) => gatekeeper.run('import', () => undefined, { duration: '10s' })],
    ['a type of tasks', 'task:mail', ({ gatekeeper }) => gatekeeper.tasks.submit(single('mail', 'one'))],
  ];

  it.each(uses)('are seen by both applications: %s', async (_what, name, use) => {
    const nodes = cluster();
    const both = [await nodes.node(publishing('shop', NONE)), await nodes.node(publishing('billing', NONE))];
    for (const node of both) await use(node);
    await nodes.time.advance(2 * MINUTE);
    const [shop, billing] = both.map((node) => node.of('other-application'));
    expect(shop).toMatchObject([{ application: 'billing', names: [name] }]);
    expect(billing).toMatchObject([{ application: 'shop', names: [name] }]);
  });

  it('are seen by the application whose code defines them', async () => {
    const nodes = cluster();
    const shop = await nodes.node(publishing('shop'));
    const billing = await nodes.node(publishing('billing', NONE));
    await billing.gatekeeper.tryAcquire('job', { duration: '10s' });
    await nodes.time.advance(2 * MINUTE);
    for (const node of [shop, billing]) expect(node.of('other-application')).toMatchObject([{ names: ['job'] }]);
  });

  it('are bounded: a node announces the first 200 that code makes up, and others still read its entry', async () => {
    const nodes = cluster();
    const shop = await nodes.node(publishing('shop', NONE));
    const billing = await nodes.node(publishing('billing', NONE));
    for (let tenant = 0; tenant < 300; tenant++) shop.gatekeeper.semaphore(`tenant-${tenant}`);
    for (const tenant of [199, 200]) billing.gatekeeper.semaphore(`tenant-${tenant}`);
    await nodes.time.advance(2 * MINUTE);
    expect(billing.of('other-application')).toMatchObject([{ names: ['tenant-199'] }]);
    expect((await billing.gatekeeper.registry.nodes()).map(({ application }) => application)).toHaveLength(2);
  });
});

describe('a node that has joined a cluster', () => {
  it('logs once its application, its place and the other nodes', async () => {
    const nodes = cluster();
    await nodes.node(publishing('shop', { acquirer: 'prod-1' }));
    await nodes.node(publishing('billing', { acquirer: 'billing-1' }));
    await nodes.time.advance(MINUTE);
    const staging = await nodes.node(publishing('shop', { acquirer: 'staging-1' }));
    await nodes.time.advance(5 * MINUTE);
    const [joined, ...more] = staging.of('cluster-joined');
    expect(more).toEqual([]);
    expect(joined).toMatchObject({ application: 'shop', nodes: 2 });
    expect(joined!.sentence).toMatch(
      /^application shop has joined scripted, with 2 other nodes: billing-1 on \S+ \(billing\), prod-1 on \S+$/,
    );
    expect(staging.log.filter((line) => line === `log ${joined!.sentence}`)).toHaveLength(1);
  });

  it.each([
    ['shop', [], 'application shop has joined PostgreSQL at db, with no other node yet'],
    [
      undefined,
      ['a', 'b', 'c', 'd', 'e', 'f', 'g'],
      'this application has joined PostgreSQL at db, with 7 other nodes: a on h, b on h, c on h, d on h, e on h and 2 more. ' +
        'It has no application name, because no package.json above its script has one: set the option application. Without ' +
        'it, another application that uses the same names is not noticed',
    ],
  ])('says so if it is alone, has no name, or met many: %s', (own, acquirers, sentence) => {
    const others = acquirers.map((acquirer) => ({ acquirer, host: 'h' }));
    expect(joinedSentence(own, 'PostgreSQL at db', others)).toBe(sentence);
  });
});

describe('the names that applications share', () => {
  const found = (names: readonly string[], other: Partial<NodeInfo>, defined: readonly string[] = []) => {
    const node = { application: 'billing', acquirer: 'a', jobs: [], ...other };
    const fingerprintOf = (name: string) => (defined.includes(name) ? 'fingerprint' : undefined);
    const nodes = [{ node, fingerprintOf, hasUsed: () => false }];
    const search = otherApplications({ application: 'shop', names: new Set(names) }, nodes);
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
