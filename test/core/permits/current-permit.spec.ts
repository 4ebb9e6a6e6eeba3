import { NoCurrentPermitError, currentPermit } from 'nestjs-gatekeeper';
import { settled } from '../../support/fake-time.js';
import { JOB, useCluster } from '../../support/nodes.js';

describe('currentPermit', () => {
  const cluster = useCluster();

  it('is the permit of the run, also deep inside calls and after waits', async () => {
    const { gatekeeper } = await cluster().node();
    const deep = async () => {
      await settled();
      return (await Promise.all([1, 2].map(async () => currentPermit())))[1];
    };
    const result = await gatekeeper.run('job', async (permit) => (await deep()) === permit);
    expect(result).toEqual({ executed: true, value: true });
  });

  it('is each run its own', async () => {
    const { gatekeeper } = await cluster().node({ definitions: [JOB, { ...JOB, name: 'other' }] });
    const names = await Promise.all(
      ['job', 'other'].map((name) =>
        gatekeeper.run(name, async () => {
          await settled();
          return currentPermit().semaphore;
        }),
      ),
    );
    expect(names).toEqual([
      { executed: true, value: 'job' },
      { executed: true, value: 'other' },
    ]);
  });

  it('throws outside a run', () => {
    expect(() => currentPermit()).toThrow(NoCurrentPermitError);
  });

  it('is no longer held in what a run leaves behind', async () => {
    const { gatekeeper } = await cluster().node();
    let later!: Promise<boolean>;
    await gatekeeper.run('job', () => {
      later = settled().then(() => currentPermit().isHeld);
    });
    expect(await later).toBe(false);
  });
});
