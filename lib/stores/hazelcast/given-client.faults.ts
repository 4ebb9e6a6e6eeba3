import type { ClientConfig, Client as HazelcastClient } from 'hazelcast-client';
import loadHazelcastClient from '../../../load-hazelcast-client.cjs';
import { quoted } from '../../core/decision/texts/hidden-characters.js';

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
