import type { ClientConfig } from 'hazelcast-client';

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
