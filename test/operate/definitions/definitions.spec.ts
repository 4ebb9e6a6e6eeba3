import {
  EditConflictError,
  InvalidOptionsError,
  StoreUnavailableError,
  UnknownSemaphoreError,
} from 'nestjs-gatekeeper';
import { JOB, keyOf, useCluster } from '../../support/nodes.js';
import { removed } from '../../support/removed.js';

describe('definitions that code brings along', () => {
  const cluster = useCluster();

  it('are put into the store after definitionsDelay and not before', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ definitionsDelay: '5s' });
    await nodes.time.advance(4999);
    expect(await nodes.raw.records.read(keyOf('job'))).toBeUndefined();
    expect((await gatekeeper.explain('job')).reason).toBe('no-definition');
    await nodes.time.advance(1);
    expect(await nodes.record()).toMatchObject({ revision: 1, definition: { name: 'job', duration: 10_000 } });
    expect(await gatekeeper.run('job', () => 1)).toEqual({ executed: true, value: 1 });
  });

  it('are not put there by a call that gives a duration before that', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ definitions: [], definitionsDelay: '5s' });
    const running = gatekeeper.run('ad hoc', () => 1, { duration: '10s' });
    await nodes.time.advance(4999);
    expect(await nodes.raw.records.read(keyOf('ad hoc'))).toBeUndefined();
    await nodes.time.advance(1);
    expect(await running).toMatchObject({ executed: true });
  });

  it('never overwrite what is in the store', async () => {
    const nodes = cluster();
    await nodes.node();
    const later = await nodes.node({ definitions: [{ ...JOB, permits: 5, duration: '1h' }] });
    await nodes.time.advance(30_000);
    expect(await later.gatekeeper.definitions.get('job')).toMatchObject({
      definition: { permits: 1, duration: 10_000 },
      revision: 1,
    });
    expect(later.of('defined')).toEqual([]);
  });

  it('are said once at the start of a node to differ from what counts', async () => {
    const nodes = cluster();
    const first = await nodes.node();
    const later = await nodes.node({
      acquirer: 'app2',
      version: '2.0',
      definitions: [{ ...JOB, permits: 5, groupPattern: 'eu-.*', duration: '1m' }],
    });
    await nodes.time.advance(30_000);
    const sentence =
      '1 stored definition counts, not that in the code of this node, app2 (version 2.0): "job" has groupPattern ".*" (in the ' +
      'code "eu-.*"), permits 1 (in the code 5), duration "10s" (in the code "1m"): it stays until the registry of the nodes ' +
      'can be read and has this node: heartbeat must not be 0. To take over the code at once: gatekeeper reset job';
    const definitions = [{ semaphore: 'job', revision: 1 }];
    expect(later.of('definitions-differ')).toEqual([{ type: 'definitions-differ', definitions, sentence }]);
    expect(later.log).toContain(`warn ${sentence}`);
    expect(first.of('definitions-differ')).toEqual([]);
  });

  it('are said to differ from the edit of an operator, with its author', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    await gatekeeper.definitions.edit('job', { duration: '1m' }, { by: 'ann' });
    const later = await nodes.node();
    expect(later.of('definitions-differ')).toMatchObject([
      { definitions: [{ revision: 2, change: { kind: 'edit', by: 'ann' } }] },
    ]);
    expect(later.log.join('\n')).toMatch(/warn .*"job" has duration "1m" \(in the code "10s"\): edit by "ann", 20/);
    await gatekeeper.definitions.pause('job', { by: 'bob' });
    const last = await nodes.node({ definitions: [{ ...JOB, duration: '1m' }] });
    expect(last.of('definitions-differ')).toEqual([]);
  });

  it('are a warning where only the code has changed since, although an operator paused the semaphore', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    await gatekeeper.definitions.pause('job');
    await gatekeeper.definitions.resume('job');
    const later = await nodes.node({ definitions: [{ ...JOB, permits: 2 }] });
    expect(later.log.filter((line) => line.includes('permits 1 (in the code 2)'))).toEqual([
      expect.stringMatching(/^warn 1 stored definition counts/),
    ]);
  });

  it('are said to differ from what an operator defined before there was code', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ definitions: [] });
    await gatekeeper.definitions.define({ name: 'job', duration: '1m' }, { by: 'ann' });
    const later = await nodes.node();
    expect(later.of('definitions-differ')).toMatchObject([
      { definitions: [{ semaphore: 'job', change: { kind: 'define', by: 'ann' } }] },
    ]);
    expect((await later.gatekeeper.definitions.get('job'))!.isOverridden).toBe(true);
  });

  it('do not bring back what an operator removed', async () => {
    const nodes = cluster();
    const one = await nodes.node();
    await removed(one.gatekeeper, 'job');
    const later = await nodes.node();
    await nodes.time.advance(30_000);
    expect(await later.gatekeeper.definitions.get('job')).toBeUndefined();
    expect(await later.gatekeeper.tryAcquire('job')).toBeUndefined();
  });

  it('are loaded by hundreds though one record can not be read', async () => {
    const nodes = cluster();
    await nodes.overwrite('garbage', 's0');
    const definitions = Array.from({ length: 100 }, (_, index) => ({ name: `s${index}`, duration: '10s' }));
    const { of } = await nodes.node({ definitions });
    expect(of('defined')).toHaveLength(99);
  });

  it('are loaded as soon as the store can be asked, when it could not be at the time', async () => {
    const nodes = cluster();
    const node = nodes.unstarted({ definitions: [JOB], definitionsDelay: 0 });
    node.store.script = () => Promise.reject(new StoreUnavailableError('away'));
    await node.gatekeeper.start();
    await nodes.time.advance(20_000);
    node.store.script = undefined;
    await nodes.time.advance(11_000);
    expect(node.of('defined')).toHaveLength(1);
  });
});

describe('an edit', () => {
  const cluster = useCluster();

  it('is in force for the very next decision of every node', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await one.gatekeeper.definitions.edit('job', { acquirerPattern: 'app1' });
    expect(await other.gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'acquirer' });
    expect(await one.gatekeeper.run('job', () => 1)).toEqual({ executed: true, value: 1 });
  });

  it('makes the next revision and keeps what it does not name', async () => {
    const { gatekeeper } = await cluster().node({ definitions: [{ ...JOB, groupPattern: 'default' }] });
    expect(await gatekeeper.definitions.edit('job', { permits: 3, groupPattern: undefined })).toMatchObject({
      definition: { name: 'job', groupPattern: 'default', acquirerPattern: '.*', permits: 3, duration: 10_000 },
      revision: 2,
    });
  });

  it('can not rename a semaphore: that would be another one', async () => {
    const { gatekeeper } = await cluster().node();
    const editing = gatekeeper.definitions.edit('job', { name: 'other', permits: 2 } as never);
    await expect(editing).rejects.toThrow(InvalidOptionsError);
    await expect(editing).rejects.toThrow('an edit of semaphore "job" can\'t be used: name: "other" would be another');
    expect(await gatekeeper.definitions.get('job')).toMatchObject({ revision: 1, definition: { permits: 1 } });
    expect(await gatekeeper.definitions.edit('job', { name: 'job' } as never)).toMatchObject({ revision: 2 });
  });

  it('is refused when another caller was faster', async () => {
    const { gatekeeper } = await cluster().node();
    await gatekeeper.definitions.edit('job', { permits: 2 }, { expectedRevision: 1 });
    await expect(gatekeeper.definitions.edit('job', { permits: 3 }, { expectedRevision: 1 })).rejects.toThrow(
      EditConflictError,
    );
    expect(await gatekeeper.definitions.get('job')).toMatchObject({ definition: { permits: 2 }, revision: 2 });
  });

  it('of nothing is refused', async () => {
    const { gatekeeper } = await cluster().node();
    await expect(gatekeeper.definitions.edit('typo', { permits: 2 })).rejects.toThrow(UnknownSemaphoreError);
  });

  it('to what can not be used is refused, with every fault, and changes nothing', async () => {
    const { gatekeeper } = await cluster().node();
    const change = { permits: -1, groupPattern: '(', duration: 'soon' };
    const error = await gatekeeper.definitions.edit('job', change).catch((fault: Error) => fault);
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect((error as InvalidOptionsError).faults).toHaveLength(3);
    await expect(gatekeeper.definitions.edit('job', { duration: '1s' })).rejects.toThrow(/clockTolerance/);
    expect(await gatekeeper.definitions.get('job')).toMatchObject({ revision: 1 });
  });
});
