import type { ClientConfig, Client as HazelcastClient } from 'hazelcast-client';
import loadHazelcastClient from '../../../load-hazelcast-client.cjs';
import { quoted } from '../../core/decision/texts/hidden-characters.js';

export const FAIL_ON_INDETERMINATE_STATE = 'hazelcast.client.operation.fail.on.indeterminate.state';

/**
 * A node that reads only one member's clock could take a permit over too early, if that clock is ahead of the others.
 */
const ROUTING = 'remove it: the store must read the clocks of all members, one after another';

/** Fields that the store must set itself. A user's value is refused with a reason, not silently ignored. */
const OWNED: readonly [path: string, find: (config: ClientConfig) => unknown, instead: string][] = [
  ['clusterName', (config) => config.clusterName, 'use the option clusterName'],
  ['customLogger', (config) => config.customLogger, 'use the option logger'],
  ['connectionStrategy', (config) => config.connectionStrategy, 'remove it: the store reconnects by itself, for ever'],
  ['nearCaches', (config) => config.nearCaches, 'remove it: records are always read from the member that owns them'],
  ['network.clusterMembers', (config) => config.network?.clusterMembers, 'use the option members'],
  ['network.hazelcastCloud', (config) => config.network?.hazelcastCloud, 'pass your own client as the option client'],
  ['network.smartRouting', (config) => config.network?.smartRouting === false || undefined, ROUTING],
  ['loadBalancer', (config) => config.loadBalancer, ROUTING],
  ['network.redoOperation', (config) => config.network?.redoOperation, 'remove it: a write must not be sent twice'],
  [
    `properties['${FAIL_ON_INDETERMINATE_STATE}']`,
    (config) => config.properties?.[FAIL_ON_INDETERMINATE_STATE],
    'remove it: the store turns it on, because otherwise a write without its backup would count as safe',
  ],
];

/** @returns a sentence for each field of the client's config that the store must set itself */
export function clientConfigFaults(config: ClientConfig): string[] {
  return OWNED.filter(([, find]) => find(config) !== undefined).map(([path, , instead]) => `${path}: ${instead}`);
}

const UNHEARD =
  'client: it asks one member only, or members by chance (network.smartRouting, loadBalancer), so that the clocks of the ' +
  'others go unheard: leave both at their defaults';

/** The store's maps: `mapName` with these endings. */
const MAPS = ['', '.tasks', '.groups', '.waiters', '.hints', '.keys'];

interface GivenClient {
  readonly client?: HazelcastClient | undefined;
  readonly mapName?: string | undefined;
}

/** Finds settings of the application's client that would make the store slow or wrong. */
export function givenClientFaults({ client, mapName = 'gatekeeper.records' }: GivenClient): string[] {
  if (typeof client?.getConfig !== 'function') return [];
  const { connectionStrategy, nearCaches = {}, network, loadBalancer } = client.getConfig();
  // In hazelcast-client 5.6 only a synchronous start connects to the other members (HazelcastClient.init). Otherwise a
  // write waits 5 s for a backup acknowledgement that can't reach the client, and its outcome is unknown.
  const asyncStart = connectionStrategy?.asyncStart
    ? [
        'client: it was made with connectionStrategy.asyncStart, and so never connects to more than one member: turn it off',
      ]
    : [];
  const unheard = hearsAll(network, loadBalancer) ? [] : [UNHEARD];
  return [
    ...asyncStart,
    ...unheard,
    ...Object.keys(nearCaches).flatMap((pattern) => nearCacheFaults(pattern, mapName)),
  ];
}

/** Whether successive calls without a key go to one member after another. */
function hearsAll(network: ClientConfig['network'], balancer: ClientConfig['loadBalancer']): boolean {
  const { ROUND_ROBIN } = loadHazelcastClient().LoadBalancerType;
  const isInTurn = !balancer?.customLoadBalancer && (balancer?.type ?? ROUND_ROBIN) === ROUND_ROBIN;
  return isInTurn && network?.smartRouting !== false;
}

function nearCacheFaults(pattern: string, mapName: string): string[] {
  const covered = MAPS.map((end) => mapName + end).find((name) => covers(pattern, name));
  if (covered === undefined) return [];
  return [
    `client: its Near Cache ${quoted(pattern)} covers the map ${quoted(covered)}: stale records would be read, so name the caches that you need`,
  ];
}

/** Whether a config's name covers a map, by Hazelcast's rules: the whole name, one asterisk, or 'default'. */
function covers(pattern: string, name: string): boolean {
  if (pattern === 'default' || pattern === name) return true;
  const [start = '', end] = pattern.split('*', 2);
  return end !== undefined && name.startsWith(start) && name.endsWith(end);
}
