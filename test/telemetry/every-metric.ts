import { InvalidTaskError, StoreUnavailableError, single } from 'nestjs-gatekeeper';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { GROUP, letters } from '../allocation/groups.js';
import type { TestCluster, TestNode } from '../support/nodes.js';
import type { Observed } from './observed.js';

const DEFINITIONS = ['job', 'taken', 'lost'].map((name) => ({ name, duration: '10s' }));
const HANDLING = { lease: 5000, keepAlive: true, concurrency: 1 };

/** Lets a node live through everything that telemetry has a metric for. */
export async function everyMetric(nodes: TestCluster, observed: Observed): Promise<TestNode> {
  const node = await nodes.node({
    definitions: DEFINITIONS,
    telemetry: observed.telemetry(),
    leadership: { enabled: true, lease: '6s' },
    allocation: { groups: [{ name: GROUP, resources: () => letters('abcdef'), id: (item: string) => item }] as never },
    membership: { lease: '6s' },
  });
  const other = await nodes.node({ definitions: DEFINITIONS, membership: { lease: '6s' } });
  await runs(node, other);
  await losses(nodes, node);
  await cluster(nodes, node);
  await tasks(nodes, node);
  await outage(node);
  partsOf(node.gatekeeper).context.clusterClock.suspect('a test');
  return node;
}

async function runs({ gatekeeper }: TestNode, other: TestNode): Promise<void> {
  await other.gatekeeper.acquire('taken', { keepAlive: true });
  await gatekeeper.run('job', () => 'done', { atLeastFor: 0 });
  await gatekeeper.run('job', () => Promise.reject(new TypeError('no file'))).catch(() => undefined);
  await gatekeeper.run('taken', () => 'never');
}

async function losses(nodes: TestCluster, { gatekeeper }: TestNode): Promise<void> {
  const permit = await gatekeeper.acquire('lost');
  await permit.refresh();
  await nodes.time.advance(15_000);
}

async function cluster(nodes: TestCluster, { gatekeeper }: TestNode): Promise<void> {
  await gatekeeper.cluster.initialize();
  await gatekeeper.allocation.start();
  await nodes.time.advance(20_000);
  await gatekeeper.cluster.scope().resign();
  await nodes.time.advance(20_000);
}

async function tasks(nodes: TestCluster, { gatekeeper: { tasks: own } }: TestNode): Promise<void> {
  own.handlers.handle('mail', () => 'sent', HANDLING);
  own.handlers.handle('print', () => Promise.reject(new InvalidTaskError('no paper')), HANDLING);
  // It ignores its signal, as work that a crash interrupts.
  const stuck = () => new Promise(() => undefined);
  own.handlers.handle('stuck', stuck, { ...HANDLING, keepAlive: false });
  own.start();
  for (const type of ['mail', 'print', 'stuck', 'unhandled']) await own.submit(single(type, '1'), 'data');
  await nodes.time.advance(60_000);
}

async function outage({ gatekeeper, store }: TestNode): Promise<void> {
  store.script = (call, go) => (call === 'now' ? go() : Promise.reject(new StoreUnavailableError('cut')));
  await gatekeeper.run('job', () => 'done', { onUnavailable: 'run' });
  store.script = undefined;
}
