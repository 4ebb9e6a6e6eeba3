import { CannotRunError, InvalidOptionsError, ReservedNameError, UnknownSemaphoreError } from 'nestjs-gatekeeper';
import { useCluster } from '../../support/nodes.js';
import { refused } from '../../support/refused.js';
import { ANN, EXPORT, nodeWithJob, runNowOf, serve } from '../../core/permits/by-hand/runners.js';

const KEY = 'run-request:job';

describe('run now refuses', () => {
  const cluster = useCluster();

  it('a paused semaphore, with the author and the reason', async () => {
    const nodes = cluster();
    const node = await nodeWithJob(nodes);
    await node.gatekeeper.definitions.pause('job', { by: 'bob', reason: 'the disk is replaced' });
    const error = await runNowOf(node)
      .run('job', ANN)
      .catch((reason: unknown) => reason as Error);
    expect(error).toBeInstanceOf(CannotRunError);
    expect((error as Error).message).toBe(
      'no job of semaphore "job" can be run now: bob has paused it: the disk is replaced',
    );
    expect(await nodes.raw.records.read(KEY)).toBeUndefined();
  });

  it('a job that no living node has', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    await expect(runNowOf(node).run('job', ANN)).rejects.toThrow('no living node has a job of it');
  });

  it('a job whose nodes the patterns do not match', async () => {
    const nodes = cluster();
    const node = await nodeWithJob(nodes);
    await node.gatekeeper.definitions.edit('job', { acquirerPattern: 'app9' }, ANN);
    await expect(runNowOf(node).run('job', ANN)).rejects.toThrow(
      'its patterns match none of the 1 living nodes that have "Jobs.export": app1',
    );
  });

  it('a semaphore with several jobs without the name of one', async () => {
    const nodes = cluster();
    const node = await nodeWithJob(nodes, { atLeastFor: 0 });
    serve(node, { job: 'Jobs.import', atLeastFor: 0 });
    await expect(runNowOf(node).run('job', ANN)).rejects.toThrow('name one of them: "Jobs.export", "Jobs.import"');
    const status = await runNowOf(node).run({ semaphore: 'job', job: 'Jobs.import' }, ANN);
    expect(status).toMatchObject({ job: 'Jobs.import', state: 'ended' });
    await expect(runNowOf(node).run({ semaphore: 'job', job: 'Jobs.x' }, ANN)).rejects.toThrow(
      'no living node has "Jobs.x"',
    );
  });

  it('a method with arguments, and one without a single instance', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    node.gatekeeper.registry.jobs = () => [{ job: EXPORT, semaphore: 'job', runNow: 'arguments' }];
    await expect(runNowOf(node).run('job')).rejects.toThrow('calls "Jobs.export" with arguments');
    node.gatekeeper.registry.jobs = () => [{ job: EXPORT, semaphore: 'job', runNow: 'not-static' }];
    await expect(runNowOf(node).run('job')).rejects.toThrow('no instance can be called');
    node.gatekeeper.registry.jobs = () => [{ job: EXPORT, semaphore: 'job' }];
    await expect(runNowOf(node).run('job')).rejects.toThrow('do not run it by hand');
  });

  it('0 permits, an unknown name, a reserved name, and bad options', async () => {
    const nodes = cluster();
    const node = await nodeWithJob(nodes);
    await node.gatekeeper.definitions.edit('job', { permits: 0 }, ANN);
    await expect(runNowOf(node).run('job')).rejects.toThrow('it is off (0 permits)');
    await expect(runNowOf(node).run('nothing')).rejects.toBeInstanceOf(UnknownSemaphoreError);
    await expect(runNowOf(node).run('leader:main')).rejects.toBeInstanceOf(ReservedNameError);
    await expect(runNowOf(node).run('job', { by: '' })).rejects.toThrow(InvalidOptionsError);
    await expect(runNowOf(node).run('job', { timeout: 'soon' })).rejects.toThrow(refused('timeout'));
    await expect(runNowOf(node).run({ semaphore: 'job', jobs: 'x' } as never)).rejects.toThrow(refused('jobs'));
  });

  it('a record of a newer version, and says so', async () => {
    const nodes = cluster();
    const node = await nodeWithJob(nodes);
    await nodes.raw.records.compareAndSet(KEY, undefined, JSON.stringify({ v: 2, other: true }));
    await expect(runNowOf(node).run('job')).rejects.toMatchObject({ code: 'newer-record' });
    expect(node.of('record-unreadable')).toContainEqual(expect.objectContaining({ semaphore: KEY }));
  });
});
