import {
  AlreadyDefinedError,
  EditConflictError,
  InvalidOptionsError,
  type RunPermit,
  UnknownOutcomeError,
  UnknownSemaphoreError,
} from 'nestjs-gatekeeper';
import { START } from '../../support/fake-time.js';
import { JOB, type TestCluster, type TestNode, openEnd, useCluster } from '../../support/nodes.js';
import { removed } from '../../support/removed.js';

const ANN = { by: 'ann', reason: 'flood' };

/** A node through which operators work, and one that works. */
async function two(nodes: TestCluster): Promise<[TestNode, TestNode]> {
  return [await nodes.node(), await nodes.node()];
}

describe('a change by an operator', () => {
  const cluster = useCluster();

  it('says who, when, why and what', async () => {
    const nodes = cluster();
    const [{ gatekeeper }, other] = await two(nodes);
    await nodes.time.advance(5000);
    const changed = await gatekeeper.definitions.edit('job', { permits: 2 }, ANN);
    const change = { id: expect.any(String), kind: 'edit', by: 'ann', reason: 'flood', at: START + 5000 };
    const code = { name: 'job', groupPattern: '.*', acquirerPattern: '.*', permits: 1, duration: 10_000 };
    const state = { definition: { ...code, permits: 2 }, source: 'operator', change, code, isOverridden: true };
    expect(changed).toEqual({ ...state, revision: 2 });
    expect(await other.gatekeeper.definitions.get('job')).toEqual(changed);
    const { semaphores } = await other.gatekeeper.state();
    expect(semaphores[0]).toMatchObject({ revision: 2, change, isOverridden: true });
  });

  it('has the node as its author when none is named', async () => {
    const { gatekeeper } = await cluster().node({ acquirer: 'app7' });
    const { change } = await gatekeeper.definitions.pause('job');
    expect(change).toMatchObject({ by: 'app7' });
    expect(change).not.toHaveProperty('reason');
  });

  it('is refused when its options can not be used, and changes nothing', async () => {
    const { gatekeeper } = await cluster().node();
    const options = { by: '', reason: 'x'.repeat(1001), expectedRevision: 0, who: 'me' };
    const error = await gatekeeper.definitions.pause('job', options).catch((fault: Error) => fault);
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect((error as InvalidOptionsError).faults).toEqual([
      expect.stringMatching(/^by: is empty/),
      'reason: is longer than 1000 characters',
      expect.stringMatching(/^expectedRevision: /),
      expect.stringMatching(/who/),
    ]);
    expect(await gatekeeper.definitions.get('job')).toMatchObject({ revision: 1 });
  });

  it('that came second is refused, and the error names the first author and time', async () => {
    const nodes = cluster();
    const [one, other] = await two(nodes);
    await nodes.time.advance(5000);
    await one.gatekeeper.definitions.edit('job', { permits: 2 }, { ...ANN, expectedRevision: 1 });
    const late = other.gatekeeper.definitions.pause('job', { by: 'bob', expectedRevision: 1 });
    const error = (await late.catch((fault: Error) => fault)) as EditConflictError;
    expect(error).toBeInstanceOf(EditConflictError);
    expect(error).toMatchObject({ code: 'edit-conflict', semaphore: 'job', expectedRevision: 1, revision: 2 });
    expect(error.change).toMatchObject({ kind: 'edit', by: 'ann', reason: 'flood', at: START + 5000 });
    const when = new Date(START + 5000).toISOString();
    expect(error.message).toBe(
      `semaphore "job" is at revision 2 (edit by "ann" at ${when}), not 1: read it again and repeat the change`,
    );
    expect(await other.gatekeeper.definitions.get('job')).toMatchObject({ revision: 2, change: { by: 'ann' } });
  });

  it('with an expected revision finds no name that was never defined, and conflicts with a removal', async () => {
    const { gatekeeper } = await cluster().node();
    const { definitions } = gatekeeper;
    const options = { expectedRevision: 1 };
    for (const change of [definitions.edit('typo', { permits: 2 }, options), definitions.pause('typo', options)]) {
      await expect(change).rejects.toBeInstanceOf(UnknownSemaphoreError);
    }
    await removed(gatekeeper, 'job', ANN);
    const late = definitions.edit('job', { permits: 2 }, options);
    await expect(late).rejects.toMatchObject({ code: 'edit-conflict', change: { kind: 'remove', by: 'ann' } });
    const defined = definitions.define({ name: 'new', duration: '20s' }, options);
    await expect(defined).rejects.toMatchObject({ code: 'edit-conflict', revision: 0 });
  });

  it('is made on what stands in the store, though this node has not heard of it yet', async () => {
    const nodes = cluster();
    const [one, other] = await two(nodes);
    other.store.isDeaf = true;
    await one.gatekeeper.definitions.edit('job', { permits: 2 });
    const edited = other.gatekeeper.definitions.edit('job', { permits: 3 }, { expectedRevision: 2 });
    expect(await edited).toMatchObject({ revision: 3 });
    await removed(one.gatekeeper, 'job');
    const again = { name: 'job', duration: '20s' };
    expect(await other.gatekeeper.definitions.define(again)).toMatchObject({ definition: { duration: 20_000 } });
  });

  it('is made by exactly one of many who expect the same revision', async () => {
    const nodes = cluster();
    const all = await Promise.all(Array.from({ length: 5 }, () => nodes.node()));
    const edits = all.map(({ gatekeeper }, index) =>
      gatekeeper.definitions.edit('job', { permits: index + 2 }, { by: `operator-${index}`, expectedRevision: 1 }),
    );
    const deciding = Promise.allSettled(edits);
    await nodes.time.advance(1000);
    const outcomes = await deciding;
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await all[0]!.gatekeeper.definitions.get('job')).toMatchObject({ revision: 2 });
  });

  it('whose answer was lost does not conflict with itself, even after another write', async () => {
    const nodes = cluster();
    const [one, other] = await two(nodes);
    one.store.script = async (call, go) => {
      if (call !== 'compareAndSet') return go();
      one.store.script = undefined;
      await go();
      await other.gatekeeper.tryAcquire('job');
      throw new UnknownOutcomeError('the connection broke');
    };
    const changed = await one.gatekeeper.definitions.edit('job', { permits: 2 }, { ...ANN, expectedRevision: 1 });
    expect(changed).toMatchObject({ revision: 2, definition: { permits: 2 }, change: { by: 'ann' } });
    expect((await nodes.record()).permits).toHaveLength(1);
    expect(one.of('audited')).toMatchObject([
      { entry: { action: 'edit', revision: 2, from: { permits: 1 }, to: { permits: 2 } } },
    ]);
  });

  it('that takes a permit, and whose answer was lost, counts even after another write', async () => {
    const nodes = cluster();
    const [one, other] = await two(nodes);
    const permit = (await other.gatekeeper.tryAcquire('job'))!;
    one.store.script = async (call, go) => {
      if (call !== 'compareAndSet') return go();
      one.store.script = undefined;
      await go();
      await other.gatekeeper.definitions.edit('job', { permits: 3 });
      throw new UnknownOutcomeError('the connection broke');
    };
    expect(await one.gatekeeper.definitions.revoke('job', permit.id, ANN)).toBe(true);
    expect(one.of('audited')).toMatchObject([{ entry: { action: 'revoke', permit: { id: permit.id } } }]);
  });

  it('is an event on every other node that knows the semaphore', async () => {
    const nodes = cluster();
    const [one, other] = await two(nodes);
    await one.gatekeeper.definitions.edit('job', { permits: 2 }, ANN);
    await nodes.time.advance(0);
    const event = { type: 'changed', semaphore: 'job', revision: 2, change: { kind: 'edit', by: 'ann' } };
    expect(other.of('changed')).toMatchObject([event]);
    expect(one.of('changed')).toMatchObject([event]);
    await other.gatekeeper.tryAcquire('job');
    await nodes.time.advance(20_000);
    expect(other.of('changed')).toHaveLength(1);
  });
});

describe('define', () => {
  const cluster = useCluster();
  const NEW = { name: 'new', duration: '10s' };

  it('makes a semaphore that every node can use', async () => {
    const [one, other] = await two(cluster());
    const state = await one.gatekeeper.definitions.define(NEW, ANN);
    expect(state).toMatchObject({ revision: 1, definition: { name: 'new', permits: 1 }, change: { kind: 'define' } });
    expect(state).toMatchObject({ isOverridden: false });
    expect(await other.gatekeeper.run('new', () => 1)).toEqual({ executed: true, value: 1 });
  });

  it('of what is there is refused', async () => {
    const { gatekeeper } = await cluster().node();
    const again = gatekeeper.definitions.define({ name: 'job', duration: '1m' });
    await expect(again).rejects.toThrow(AlreadyDefinedError);
    await expect(again).rejects.toMatchObject({ semaphore: 'job', revision: 1 });
    expect(await gatekeeper.definitions.get('job')).toMatchObject({ definition: { duration: 10_000 } });
  });

  it('brings back what was removed, with higher revisions and tokens', async () => {
    const { gatekeeper } = await cluster().node();
    const before = (await gatekeeper.tryAcquire('job'))!;
    await removed(gatekeeper, 'job', ANN);
    expect(await gatekeeper.definitions.define({ ...JOB, permits: 2 })).toMatchObject({ revision: 3 });
    expect((await gatekeeper.tryAcquire('job'))!.token).toBeGreaterThan(before.token);
  });

  it('of what can not be used is refused', async () => {
    const { gatekeeper } = await cluster().node();
    await expect(gatekeeper.definitions.define({ name: 'x', duration: '1s' })).rejects.toThrow(InvalidOptionsError);
    expect(await gatekeeper.definitions.get('x')).toBeUndefined();
  });
});

describe('pause and resume', () => {
  const cluster = useCluster();

  it('keep everybody new out, and say so', async () => {
    const nodes = cluster();
    const [one, other] = await two(nodes);
    await one.gatekeeper.definitions.pause('job', ANN);
    expect(await other.gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'paused' });
    expect(await other.gatekeeper.tryAcquire('job')).toBeUndefined();
    expect(await other.gatekeeper.explain('job')).toMatchObject({
      outcome: 'denied',
      reason: 'paused',
      sentence: `it is paused by ann since ${new Date(START).toISOString()}: flood`,
    });
    const pause = { by: 'ann', at: START, reason: 'flood', groupPattern: '.*' };
    expect((await other.gatekeeper.state()).semaphores[0]).toMatchObject({ pause, isOverridden: false });
    await one.gatekeeper.definitions.resume('job');
    expect(await other.gatekeeper.run('job', () => 1)).toEqual({ executed: true, value: 1 });
    expect(await other.gatekeeper.definitions.get('job')).toMatchObject({ revision: 3, change: { kind: 'resume' } });
  });

  it('change nothing the second time', async () => {
    const { gatekeeper, of } = await cluster().node();
    const { definitions } = gatekeeper;
    await definitions.pause('job', ANN);
    expect(await definitions.pause('job', { by: 'bob' })).toMatchObject({ revision: 2, pause: { by: 'ann' } });
    await definitions.resume('job');
    expect(await definitions.resume('job', { by: 'bob' })).toMatchObject({ revision: 3, change: { by: 'app1' } });
    expect(of('audited')).toHaveLength(2);
  });

  it('let a run that goes on finish, its permit refreshed, and start no other', async () => {
    const nodes = cluster();
    const [one, other] = await two(nodes);
    const { work, end, started } = openEnd<string>();
    let permit!: RunPermit;
    const running = other.gatekeeper.run('job', (given) => ((permit = given), work()));
    await started;
    await one.gatekeeper.definitions.pause('job', ANN);
    await nodes.time.advance(60_000);
    expect(permit.isHeld).toBe(true);
    expect(permit.signal.aborted).toBe(false);
    end('done');
    expect(await running).toEqual({ executed: true, value: 'done' });
    expect(await other.gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'paused' });
    await nodes.time.advance(60_000);
    expect(await one.gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'paused' });
  });

  it('wake who waits for a permit', async () => {
    const nodes = cluster();
    const [one, other] = await two(nodes);
    await one.gatekeeper.definitions.pause('job');
    const waiting = other.gatekeeper.acquire('job', { timeout: '1m' });
    await nodes.time.advance(5000);
    await one.gatekeeper.definitions.resume('job');
    await nodes.time.advance(0);
    expect((await waiting).isHeld).toBe(true);
  });

  it('keep what is edited meanwhile for afterwards', async () => {
    const { gatekeeper } = await cluster().node();
    const { definitions } = gatekeeper;
    await definitions.pause('job', ANN);
    await definitions.edit('job', { groupPattern: 'default|dr', permits: 2 });
    expect(await gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'paused' });
    expect(await definitions.resume('job')).toMatchObject({ definition: { groupPattern: 'default|dr', permits: 2 } });
  });

  it('bring the former pattern back though something else was edited meanwhile', async () => {
    const { gatekeeper } = await cluster().node({ definitions: [{ ...JOB, groupPattern: 'default' }] });
    const { definitions } = gatekeeper;
    await definitions.pause('job', ANN);
    await definitions.edit('job', { permits: 2 });
    expect(await definitions.resume('job')).toMatchObject({ definition: { groupPattern: 'default', permits: 2 } });
  });

  it.each(['pause', 'resume'] as const)('refuse to %s an undefined semaphore', async (verb) => {
    const { gatekeeper } = await cluster().node();
    await expect(gatekeeper.definitions[verb]('typo')).rejects.toThrow(UnknownSemaphoreError);
  });
});
