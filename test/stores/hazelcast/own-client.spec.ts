import { Client, type ClientConfig, LifecycleState } from 'hazelcast-client';
import { OwnClient } from '../../../lib/stores/hazelcast/client-source.js';
import { type ResolvedOwnOptions, resolveOptions } from '../../../lib/stores/hazelcast/hazelcast.options.js';

/** Lets a test decide what a client does that is made: `config` is the one that it was given. */
function madeClients(start: (config: ClientConfig) => Promise<Client>): OwnClient {
  jest.spyOn(Client, 'newHazelcastClient').mockImplementation((config) => start(config!));
  return new OwnClient(resolveOptions({}) as ResolvedOwnOptions);
}

function fakeClient() {
  const getMembers = () => [{ address: { host: '10.0.0.1', port: 5701 } }];
  const shutdown = jest.fn(async () => undefined);
  return { shutdown, getCluster: () => ({ getMembers }) } as unknown as Client;
}

describe('An own client', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('fails at once when its client shuts itself down, though the start hangs, and shuts down what comes late', async () => {
    const late = fakeClient();
    let comeLate!: () => void;
    const own = madeClients((config) => {
      for (const listener of config.lifecycleListeners!) listener(LifecycleState.SHUTDOWN);
      return new Promise((resolve) => (comeLate = () => resolve(late)));
    });
    await expect(own.connect()).rejects.toThrow('the client shut itself down');
    comeLate();
    await new Promise((resolve) => setImmediate(resolve));
    expect(late.shutdown).toHaveBeenCalledTimes(1);
  });

  it('says why the first address did not do when no start succeeds', async () => {
    const own = madeClients(async (config) => {
      config.customLogger!.warn('ConnectionManager', 'connection refused');
      config.customLogger!.warn('ConnectionManager', 'no address left');
      throw new Error('unable to connect to any cluster');
    });
    await expect(own.connect()).rejects.toThrow('connection refused');
  });

  it('is lost when its client drops a listener, which only its log tells', async () => {
    let config: ClientConfig | undefined;
    const own = madeClients(async (given) => {
      config = given;
      return fakeClient();
    });
    const { lost } = await own.connect();
    config!.customLogger!.warn('ConnectionManager', 'of no matter');
    expect(lost.aborted).toBe(false);
    config!.customLogger!.warn('ListenerService', 'Listener can not be added to a new connection');
    expect(lost.aborted).toBe(true);
  });

  it('tries the members that it saw last beside the configured ones', async () => {
    const configs: ClientConfig[] = [];
    const own = madeClients(async (config) => {
      configs.push(config);
      return fakeClient();
    });
    await own.connect();
    for (const listener of configs[0]!.lifecycleListeners!) listener(LifecycleState.DISCONNECTED);
    await own.connect();
    expect(configs.map(({ network }) => network!.clusterMembers)).toEqual([
      ['127.0.0.1:5701'],
      ['127.0.0.1:5701', '10.0.0.1:5701'],
    ]);
  });
});
