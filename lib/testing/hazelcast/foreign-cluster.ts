import type { HazelcastCluster } from './hazelcast-cluster.js';
import type { HazelcastMember } from './hazelcast-member.js';
import type { HazelcastOptions } from './hazelcast.options.js';
import { HazelcastLauncherError } from './launcher.error.js';
import { NOT_OURS } from './launcher.messages.js';

/** Options that every running cluster satisfies. */
const FULFILLED: ReadonlySet<string> = new Set(['members', 'startTimeout', 'onLog']);

/**
 * Returns the cluster that `HAZELCAST_MEMBERS` (comma separated `host:port`) and `HAZELCAST_CLUSTER` (default `dev`)
 * name. Returns undefined if `HAZELCAST_MEMBERS` is not set, or if an option needs members that are started here.
 */
export function foreignCluster(options: HazelcastOptions, env = process.env): HazelcastCluster | undefined {
  const addresses = (env['HAZELCAST_MEMBERS'] ?? '').split(',').flatMap((address) => address.trim() || []);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const fulfilled = typeof options.members !== 'object' && given.every(([name]) => FULFILLED.has(name));
  if (addresses.length === 0 || !fulfilled) return undefined;
  return new ForeignCluster(env['HAZELCAST_CLUSTER'] || 'dev', addresses);
}

class ForeignCluster implements HazelcastCluster {
  readonly members: readonly HazelcastMember[];

  constructor(
    readonly clusterName: string,
    readonly addresses: string[],
  ) {
    this.members = addresses.map((address, index) => new ForeignMember(index, address));
  }

  async addMember(): Promise<never> {
    throw new HazelcastLauncherError(NOT_OURS(this.addresses.join(','), 'addMember'));
  }

  /** Does nothing, because the cluster was not started here. */
  async stop(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}

class ForeignMember implements HazelcastMember {
  readonly pid = undefined;
  readonly running = true;

  constructor(
    readonly index: number,
    readonly address: string,
  ) {}

  kill = async () => this.#refuse('kill');
  stop = async () => this.#refuse('stop');
  start = async () => this.#refuse('start');
  pause = async () => this.#refuse('pause');
  resume = () => this.#refuse('resume');

  #refuse(verb: string): never {
    throw new HazelcastLauncherError(NOT_OURS(this.address, verb));
  }
}
