import { single } from 'nestjs-gatekeeper';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { instanceOfProgram } from '../../lib/core/context/node-identity.js';
import { METRICS } from '../../lib/telemetry/metrics.js';
import { useCluster } from '../support/nodes.js';
import { everyMetric } from './every-metric.js';
import { useObserved } from './observed.js';

const cluster = useCluster();
const observe = useObserved();

it('exports every metric, with the attributes that it declares', async () => {
  const observed = observe();
  await everyMetric(cluster(), observed);
  const collected = await observed.collect();
  const attributesOf = (name: string) => collected.get(name)?.flatMap(({ attributes }) => Object.keys(attributes));
  const exported = Object.values(METRICS).map(({ name }) => [name, [...new Set(attributesOf(name))].toSorted()]);
  const declared = Object.values(METRICS).map(({ name, attributes }) => [name, attributes.toSorted()]);
  expect(exported).toEqual(declared);
  expect([...collected.keys()].filter((name) => !Object.values(METRICS).some((each) => each.name === name))).toEqual(
    [],
  );
});

it('tells leadership, ownership and the ends of tasks', async () => {
  const observed = observe();
  const nodes = cluster();
  await everyMetric(nodes, observed);
  expect(await observed.valuesOf('gatekeeper.leadership.terms')).toEqual(['2 ["default"]', '1 ["allocation"]']);
  expect(await observed.valuesOf('gatekeeper.leadership.ends')).toEqual(['1 ["default","resigned"]']);
  expect(await observed.valuesOf('gatekeeper.leadership.leading')).toEqual(['1 ["default"]', '1 ["allocation"]']);
  expect(await observed.valuesOf('gatekeeper.allocation.resource.count')).toEqual(['6 ["queues"]']);
  expect(await observed.valuesOf('gatekeeper.allocation.moves')).toEqual(['6 ["queues","added"]']);
  expect(await observed.valuesOf('gatekeeper.task.dead')).toEqual(['1 ["print","invalid"]']);
  expect(await observed.valuesOf('gatekeeper.task.crashes')).toEqual(['1 ["stuck"]']);
});

it('reports a fault as 1 while it lasts, and as 0 after it', async () => {
  const observed = observe();
  const nodes = cluster();
  const { store } = await nodes.node({ telemetry: observed.telemetry() });
  const whole = store.health();
  expect(await observed.valuesOf('gatekeeper.health.fault')).toEqual([]);
  store.report = { ...whole, members: 1, quorum: 2 };
  expect(await observed.valuesOf('gatekeeper.health.fault')).toEqual(['1 ["no-quorum"]']);
  expect(await observed.valuesOf('gatekeeper.health.grants')).toEqual(['0 []']);
  store.report = whole;
  expect(await observed.valuesOf('gatekeeper.health.fault')).toEqual(['0 ["no-quorum"]']);
  expect(await observed.valuesOf('gatekeeper.health.grants')).toEqual(['1 []']);
});

describe('permits', () => {
  it('count attempts, grants, refreshes, releases, and denials by reason', async () => {
    const observed = observe();
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ telemetry: observed.telemetry() });
    const other = await nodes.node();
    const permit = await gatekeeper.acquire('job');
    await permit.refresh();
    await permit.release();
    await other.gatekeeper.acquire('job');
    await gatekeeper.tryAcquire('job');
    expect(await observed.valuesOf('gatekeeper.acquire.attempts')).toEqual(['2 ["job"]']);
    expect(await observed.valuesOf('gatekeeper.permit.grants')).toEqual(['1 ["job"]']);
    expect(await observed.valuesOf('gatekeeper.permit.refreshes')).toEqual(['1 ["job"]']);
    expect(await observed.valuesOf('gatekeeper.permit.releases')).toEqual(['1 ["job"]']);
    expect(await observed.valuesOf('gatekeeper.acquire.denials')).toEqual(['1 ["job","no-permit"]']);
  });

  it('do not count those of programs, which this node only asks the store for', async () => {
    const observed = observe();
    const { gatekeeper } = await cluster().node({ telemetry: observed.telemetry() });
    const { external } = partsOf(gatekeeper);
    const program = { semaphore: 'job', instance: instanceOfProgram('importer') };
    const asked = { ...program, holder: 'importer', acquirer: 'importer' };
    const taken = await external.take(asked, { wait: 0, signal: new AbortController().signal });
    if (taken.outcome !== 'granted') throw new Error(taken.reason);
    await external.refresh({ ...program, id: taken.permit.id, token: taken.permit.token });
    await external.release({ ...program, id: taken.permit.id });
    for (const change of ['grants', 'refreshes', 'releases']) {
      expect(await observed.valuesOf(`gatekeeper.permit.${change}`)).toEqual([]);
    }
  });

  it('count those that are held now, and losses by reason', async () => {
    const observed = observe();
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ telemetry: observed.telemetry() });
    await gatekeeper.acquire('job');
    expect(await observed.valuesOf('gatekeeper.permit.count')).toEqual(['1 ["job"]']);
    await nodes.time.advance(10_000);
    expect(await observed.valuesOf('gatekeeper.permit.count')).toEqual(['0 ["job"]']);
    expect(await observed.valuesOf('gatekeeper.permit.losses')).toEqual(['1 ["job","expired"]']);
  });
});

describe('a run', () => {
  it('is measured in seconds, and counts while it goes on', async () => {
    const observed = observe();
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ telemetry: observed.telemetry() });
    let end!: () => void;
    const running = gatekeeper.run('job', () => new Promise<void>((resolve) => (end = resolve)));
    await nodes.time.advance(3000);
    expect(await observed.valuesOf('gatekeeper.run.active')).toEqual(['1 ["job","job"]']);
    end();
    await running;
    expect(await observed.valuesOf('gatekeeper.run.active')).toEqual(['0 ["job","job"]']);
    expect(await observed.scrape()).toMatch(/^gatekeeper_run_duration_sum\{.*\} 3$/m);
  });
});

describe('names', () => {
  it('that no code defines are _OTHER, so that there is no time series per name', async () => {
    const observed = observe();
    const { gatekeeper } = await cluster().node({ telemetry: observed.telemetry() });
    for (const tenant of ['acme', 'beta']) await gatekeeper.tryAcquire(`import-${tenant}`, { duration: '5s' });
    expect(await observed.valuesOf('gatekeeper.permit.grants')).toEqual(['2 ["_OTHER"]']);
    expect(await observed.valuesOf('gatekeeper.permit.count')).toEqual(['2 ["_OTHER"]']);
  });

  it('can get a common name from the application', async () => {
    const observed = observe();
    const semaphoreName = (name: string) => (name === 'odd' ? undefined : name.split('-')[0]);
    const { gatekeeper } = await cluster().node({ telemetry: observed.telemetry({ semaphoreName }) });
    for (const name of ['import-acme', 'import-beta', 'odd']) await gatekeeper.tryAcquire(name, { duration: '5s' });
    expect(await observed.valuesOf('gatekeeper.permit.grants')).toEqual(['2 ["import"]', '1 ["_OTHER"]']);
  });

  it('are _OTHER when the function of the application fails', async () => {
    const observed = observe();
    const semaphoreName = () => {
      throw new Error('mistake');
    };
    const { gatekeeper } = await cluster().node({ telemetry: observed.telemetry({ semaphoreName }) });
    await gatekeeper.tryAcquire('import', { duration: '5s' });
    expect(await observed.valuesOf('gatekeeper.permit.grants')).toEqual(['1 ["_OTHER"]']);
  });

  it('are limited in number, whatever the application does', async () => {
    const observed = observe();
    const telemetry = observed.telemetry({ semaphoreName: (name) => name, maxNames: 2 });
    const { gatekeeper } = await cluster().node({ telemetry });
    for (const name of ['a', 'b', 'c', 'd']) await gatekeeper.tryAcquire(name, { duration: '5s' });
    expect(await observed.valuesOf('gatekeeper.permit.grants')).toEqual(['1 ["a"]', '1 ["b"]', '2 ["_OTHER"]']);
  });
});

describe('the backlog of tasks', () => {
  it('is reported by the node that sweeps, and falls to 0', async () => {
    const observed = observe();
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ telemetry: observed.telemetry() });
    gatekeeper.tasks.handlers.handle('other', () => undefined, { concurrency: 1 });
    gatekeeper.tasks.start();
    for (const id of ['1', '2', '3']) await gatekeeper.tasks.submit(single('mail', id), 'data');
    await nodes.time.advance(30_000);
    expect(await observed.valuesOf('gatekeeper.task.backlog')).toEqual(['3 ["mail"]']);
    gatekeeper.tasks.handlers.handle('mail', () => undefined, { concurrency: 1 });
    await nodes.time.advance(30_000);
    expect(await observed.valuesOf('gatekeeper.task.backlog')).toEqual(['0 ["mail"]']);
    expect(await observed.valuesOf('gatekeeper.task.completed')).toEqual(['3 ["mail"]']);
  });
});

it('asks the store nothing at a collection, however many semaphores there are', async () => {
  const observed = observe();
  const definitions = Array.from({ length: 200 }, (_, index) => ({ name: `job-${index}`, duration: '10s' }));
  const node = await cluster().node({ definitions, telemetry: observed.telemetry() });
  for (let index = 0; index < 50; index++) await node.gatekeeper.tryAcquire(`job-${index}`);
  const before = { ...node.store.calls };
  await observed.collect();
  await observed.scrape();
  expect(node.store.calls).toEqual(before);
});

it('reads nothing any more when the node has closed', async () => {
  const observed = observe();
  const nodes = cluster();
  const { gatekeeper } = await nodes.node({ telemetry: observed.telemetry() });
  const report = jest.spyOn(partsOf(gatekeeper).health, 'report');
  await observed.collect();
  expect(report).toHaveBeenCalled();
  await nodes.close();
  report.mockClear();
  await observed.collect();
  expect(report).not.toHaveBeenCalled();
});
