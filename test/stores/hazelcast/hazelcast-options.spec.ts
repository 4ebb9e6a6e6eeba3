import { type Client, type ClientConfig, LoadBalancerType, ReconnectMode } from 'hazelcast-client';
import { InvalidOptionsError } from '../../../lib/core/decision/invalid-options.error.js';
import { type HazelcastStoreOptions, resolveOptions } from '../../../lib/stores/hazelcast/hazelcast.options.js';

function faultsOf(options: unknown): readonly string[] {
  try {
    resolveOptions(options as HazelcastStoreOptions);
    return [];
  } catch (error) {
    if (error instanceof InvalidOptionsError) return error.faults;
    throw error;
  }
}

function clientWith(config: ClientConfig): Client {
  const method = () => undefined;
  return {
    getMap: method,
    getFlakeIdGenerator: method,
    getLifecycleService: method,
    getConfig: () => config,
  } as unknown as Client;
}

describe('Options of hazelcast()', () => {
  it('are all optional', () => {
    expect(resolveOptions({})).toEqual({
      clusterName: 'dev',
      members: ['127.0.0.1:5701'],
      mapName: 'gatekeeper.records',
      clockName: 'gatekeeper.clock',
      acquisition: 'optimistic',
      cp: false,
      clientConfig: {},
      quorum: 0,
    });
  });

  it.each([
    [{ quorum: 2 }, 2],
    [{ quorum: 'majority', expectedMembers: 1 }, 1],
    [{ quorum: 'majority', expectedMembers: 2 }, 2],
    [{ quorum: 'majority', expectedMembers: 3 }, 2],
    [{ quorum: 'majority', expectedMembers: 4 }, 3],
    [{ expectedMembers: 3 }, 0],
  ])('turn %j into a quorum of %i', (options, quorum) => {
    expect(resolveOptions(options as HazelcastStoreOptions).quorum).toBe(quorum);
  });

  it('are refused with one error that lists every fault by field and value', () => {
    const options = { clusterName: '', members: ['a b', 'host:70000'], quorum: 'majority', mapName: 7, logger: {} };
    expect(faultsOf(options)).toEqual([
      'mapName: 7 is not a name',
      'clusterName: is empty: give it a name',
      `members.0: "a b" is not one address such as '127.0.0.1:5701'`,
      'members.1: "host:70000" is not an address with a port up to 65535',
      expect.stringMatching(/^logger: .* is not a logger with the methods error, warn and log$/),
      "quorum: 'majority' needs expectedMembers, the number of members that the whole cluster has",
    ]);
  });

  it.each([
    [{ quorun: 2 }, 'quorun: '],
    [{ quorum: 0 }, 'quorum: 0 is not 1 or more'],
    [{ quorum: 1.5 }, "quorum: 1.5 is not a whole number from 1, or 'majority'"],
    [{ quorum: 4, expectedMembers: 3 }, 'quorum: 4 is more than expectedMembers (3)'],
    [{ acquisition: 'careful' }, `acquisition: "careful" is not 'optimistic' or 'pessimistic'`],
    [{ cp: 'yes' }, 'cp: "yes" is not true or false'],
    [{ cp: true, acquisition: 'pessimistic' }, "acquisition: 'pessimistic' locks entries of a map, and cp: true keeps"],
    [{ expectedMembers: -1 }, 'expectedMembers: -1 is not 1 or more'],
    [{ members: [] }, 'members: is empty'],
    [{ members: ['host:port'] }, 'members.0: "host:port" is not an address such as \'127.0.0.1:5701\''],
    [{ members: '127.0.0.1' }, 'members: "127.0.0.1" is not a list of addresses'],
    [{ client: {} }, 'client: an empty object is not a HazelcastClient'],
    [{ client: clientWith({}), members: ['a'] }, 'members: '],
    [7, '7 is not'],
    [null, 'null is not'],
  ])('are refused: %j', (options, fault) => {
    expect(faultsOf(options)).toEqual([expect.stringContaining(fault)]);
  });

  it.each<[ClientConfig, string]>([
    [{ clusterName: 'x' }, 'clientConfig: clusterName: use the option clusterName'],
    [{ network: { clusterMembers: [] } }, 'clientConfig: network.clusterMembers: use the option members'],
    [{ network: { redoOperation: true } }, 'clientConfig: network.redoOperation: remove it'],
    [{ network: { smartRouting: false } }, 'clientConfig: network.smartRouting: remove it'],
    [{ loadBalancer: { type: LoadBalancerType.RANDOM } }, 'clientConfig: loadBalancer: remove it'],
    [{ connectionStrategy: {} }, 'clientConfig: connectionStrategy: remove it'],
    [{ nearCaches: {} }, 'clientConfig: nearCaches: remove it'],
    [{ properties: { 'hazelcast.client.operation.fail.on.indeterminate.state': false } }, 'clientConfig: properties['],
  ])('are refused when the client config holds what the store must set: %j', (clientConfig, fault) => {
    expect(faultsOf({ clientConfig })).toEqual([expect.stringContaining(fault)]);
  });

  it('let the client config bring credentials, SSL and properties', () => {
    const clientConfig = {
      security: { usernamePassword: { username: 'u', password: 'p' } },
      network: { ssl: { enabled: true }, connectionTimeout: 1 },
      properties: { 'hazelcast.client.heartbeat.timeout': 1 },
    };
    expect(resolveOptions({ clientConfig })).toMatchObject({ clientConfig });
  });
});

describe('A client that is passed in', () => {
  it('may not be one that starts asynchronously, because that never connects to a second member', () => {
    const client = clientWith({ connectionStrategy: { asyncStart: true, reconnectMode: ReconnectMode.ASYNC } });
    expect(faultsOf({ client })).toEqual([expect.stringContaining('connectionStrategy.asyncStart')]);
  });

  it.each<ClientConfig>([
    { network: { smartRouting: false } },
    { loadBalancer: { type: LoadBalancerType.RANDOM } },
    { loadBalancer: { customLoadBalancer: {} as never } },
  ])('may not leave the clocks of members unheard: %j', (config) => {
    expect(faultsOf({ client: clientWith(config) })).toEqual([expect.stringContaining('go unheard')]);
  });

  it('may say of routing what is the default anyway', () => {
    const client = clientWith({
      network: { smartRouting: true },
      loadBalancer: { type: LoadBalancerType.ROUND_ROBIN },
    });
    expect(faultsOf({ client })).toEqual([]);
  });

  it.each(['default', 'gatekeeper.records', 'gatekeeper.*', '*', '*.records', 'gate*records'])(
    'may not have a Near Cache over the map of records: %s',
    (pattern) => {
      const client = clientWith({ nearCaches: { [pattern]: {} } });
      expect(faultsOf({ client })).toEqual([expect.stringContaining(`Near Cache "${pattern}"`)]);
    },
  );

  it.each([
    ['jobs.tasks', 'jobs.tasks'],
    ['*.groups', 'jobs.groups'],
    ['jobs.k*', 'jobs.keys'],
    ['jobs*', 'jobs'],
  ])('may not have a Near Cache over one of its other maps: %s', (pattern, map) => {
    const client = clientWith({ nearCaches: { [pattern]: {} } });
    expect(faultsOf({ client, mapName: 'jobs' })).toEqual([
      expect.stringContaining(`Near Cache "${pattern}" covers the map "${map}"`),
    ]);
  });

  it.each(['gatekeeper.clock', 'other.*', '*.others'])('may have another Near Cache: %s', (pattern) => {
    expect(faultsOf({ client: clientWith({ nearCaches: { [pattern]: {} } }) })).toEqual([]);
  });
});
