import { BoundedCalls } from '../../../../lib/operate/activity/archive/bounded-calls.js';
import { partsOf } from '../../../../lib/gatekeeper/parts.js';
import { outcomeOf, useCluster } from '../../../support/nodes.js';

const failing = (message: string) => () => Promise.reject(new Error(message));
const hanging = () => new Promise<never>(() => undefined);

describe('the calls of an archive', () => {
  const cluster = useCluster();

  it('fail since their first failure, whatever the reasons, and each reason is said once', async () => {
    const nodes = cluster();
    const { gatekeeper, of } = await nodes.node();
    const calls = new BoundedCalls('archive (test)', partsOf(gatekeeper).context);
    const since = nodes.time.monotonic();
    await calls.try('save', failing('full'));
    await nodes.time.advance(1000);
    for (const reason of ['full', 'gone', 'gone']) await calls.try('save', failing(reason));
    expect(calls.failures).toEqual([{ since, sentence: 'archive (test): save: gone' }]);
    expect(of('problem')).toMatchObject([{ error: { message: 'full' } }, { error: { message: 'gone' } }]);
    await expect(calls.run('save', failing('gone'))).rejects.toThrow('gone');
    await calls.try('load', async () => 1);
    expect(calls.failures).toHaveLength(1);
    expect(await calls.run('save', async () => 'saved')).toBe('saved');
    expect(calls.failures).toEqual([]);
  });

  it('wait for a call without an answer, except the last one', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    const calls = new BoundedCalls('archive (test)', partsOf(gatekeeper).context);
    const call = calls.try('save', hanging, { patience: 3000 });
    await nodes.time.advance(2999);
    expect(await outcomeOf(call)).toBe('pending');
    await nodes.time.advance(1);
    expect(await outcomeOf(call)).toEqual({ value: undefined });
    await expect(calls.run('load', async () => 1)).rejects.toThrow('an earlier call is still without an answer');
    expect(await calls.run('close', async () => 2, { isLast: true })).toBe(2);
  });
});
