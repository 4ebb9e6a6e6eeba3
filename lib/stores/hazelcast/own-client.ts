import type { Client as HazelcastClient } from 'hazelcast-client';
import { ownClientConfig } from './client-config.js';
import { ClientLog } from './client-log.js';
import { type ClientSource, type LiveClient, meansLost } from './client-source.js';
import { LISTENER_DROPPED } from './client-patches/dropped-listeners.js';
import { startClient } from './client-patches/hung-start.js';
import type { ResolvedOwnOptions } from './hazelcast.options.js';

/** Creates a new client for each connection. */
export class OwnClient implements ClientSource {
  #knownMembers: readonly string[] = [];

  constructor(readonly options: ResolvedOwnOptions) {}

  async connect(): Promise<LiveClient> {
    const lost = new AbortController();
    const log = new ClientLog(this.options.logger, (source) => {
      if (source === LISTENER_DROPPED) lost.abort();
    });
    const client = await this.#newClient(log, lost);
    lost.signal.addEventListener('abort', () => this.#rememberMembers(client));
    return { client, lost: lost.signal, release: () => client.shutdown() };
  }

  async #newClient(log: ClientLog, lost: AbortController): Promise<HazelcastClient> {
    const onState = (state: Parameters<typeof meansLost>[0]) => meansLost(state) && lost.abort();
    const config = ownClientConfig(this.options, { log, onState, knownMembers: this.#knownMembers });
    try {
      return await startClient(config, lost.signal);
    } catch (error) {
      throw log.firstWarning === undefined ? error : new Error(log.firstWarning, { cause: error });
    }
  }

  #rememberMembers(client: HazelcastClient): void {
    this.#knownMembers = client
      .getCluster()
      .getMembers()
      .map(({ address }) => `${address.host}:${address.port}`);
  }
}
