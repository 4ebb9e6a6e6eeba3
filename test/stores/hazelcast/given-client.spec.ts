import { EventEmitter } from 'node:events';
import { type Client, LifecycleState } from 'hazelcast-client';
import { GivenClient } from '../../../lib/stores/hazelcast/client-source.js';

function clientOf(isRunning: boolean) {
  const lifecycle = Object.assign(new EventEmitter(), { isRunning: () => isRunning });
  return { lifecycle, client: { getLifecycleService: () => lifecycle } as unknown as Client };
}

describe("An application's client", () => {
  it('is lost when it loses the cluster', async () => {
    const { client, lifecycle } = clientOf(true);
    const { lost } = await new GivenClient(client).connect();
    lifecycle.emit('lifecycleEvent', LifecycleState.CONNECTED);
    expect(lost.aborted).toBe(false);
    lifecycle.emit('lifecycleEvent', LifecycleState.DISCONNECTED);
    expect(lost.aborted).toBe(true);
  });

  it('ends its signal when it is given back, or Node would keep it and all that listens to it', async () => {
    const { client, lifecycle } = clientOf(true);
    const { lost, release } = await new GivenClient(client).connect();
    await release();
    expect(lost.aborted).toBe(true);
    expect(lifecycle.listenerCount('lifecycleEvent')).toBe(0);
  });

  it('is refused when it was shut down', async () => {
    await expect(new GivenClient(clientOf(false).client).connect()).rejects.toThrow('pass a running one');
  });
});
