import { settled } from '../support/fake-time.js';
import { useCluster } from '../support/nodes.js';

describe('a listener', () => {
  const cluster = useCluster();
  const fail = async () => {
    throw new Error('the pager is away');
  };

  it('hears of the events of one type, until it ends', async () => {
    const { gatekeeper } = await cluster().node();
    const heard: string[] = [];
    const end = gatekeeper.on('granted', ({ type, semaphore, permit }) => {
      heard.push(`${type} ${semaphore} ${permit.slot}`);
    });
    const permit = await gatekeeper.tryAcquire('job');
    await permit!.release();
    expect(heard).toEqual(['granted job 0']);
    end();
    await gatekeeper.tryAcquire('job');
    expect(heard).toHaveLength(1);
  });

  it('hears of the loss of a permit in the shutdown, too', async () => {
    const { gatekeeper } = await cluster().node();
    const heard: string[] = [];
    gatekeeper.on('lost', ({ semaphore, reason }) => void heard.push(`${semaphore} ${reason}`));
    await gatekeeper.tryAcquire('job');
    await gatekeeper.close();
    expect(heard).toEqual(['job closing']);
  });

  it.each([
    ['throws', () => JSON.parse('no JSON')],
    ['rejects', fail],
  ])('that %s makes a problem, and stops neither the run nor another listener', async (_, listener) => {
    const { gatekeeper, of } = await cluster().node();
    const heard: string[] = [];
    gatekeeper.on('run-started', listener);
    gatekeeper.on('run-started', ({ job }) => void heard.push(job));
    const result = await gatekeeper.run('job', () => 'done');
    await settled();
    expect(result).toEqual({ executed: true, value: 'done' });
    expect(heard).toEqual(['job']);
    expect(of('problem')).toEqual([
      { type: 'problem', action: 'call a listener for run-started', error: expect.any(Error) },
    ]);
  });

  it('for problems that fails is logged, and not called again for its own failure', async () => {
    const { gatekeeper, log, of } = await cluster().node();
    gatekeeper.on('problem', fail);
    gatekeeper.on('granted', fail);
    await gatekeeper.tryAcquire('job');
    await settled();
    expect(of('problem')).toHaveLength(1);
    expect(log.filter((line) => line.startsWith('error'))).toEqual([
      'error a listener for problems failed: the pager is away',
    ]);
  });
});
