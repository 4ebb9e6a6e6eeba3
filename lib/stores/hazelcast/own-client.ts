import type { Client as HazelcastClient } from 'hazelcast-client';
import loadHazelcastClient from '../../../load-hazelcast-client.cjs';
import { unlessAborted } from './aborted.js';
import { ownClientConfig } from './client-config.js';
import { ClientLog } from './client-log.js';
import { type ClientSource, type LiveClient, meansLost } from './client-source.js';
import type { ResolvedOwnOptions } from './hazelcast.options.js';

/** Makes a new client for each connection. */
export class OwnClient implements ClientSource {
  #knownMembers: readonly string[] = [];

  constructor(readonly options: ResolvedOwnOptions) {}

  async connect(): Promise<LiveClient> {
    const lost = new AbortController();
    const log = new ClientLog(this.options.logger, (source) => {
      // A listener that could not be put on a new connection is dropped with this warning and no other sign.
      if (source === 'ListenerService') lost.abort();
    });
    const client = await this.#newClient(log, lost);
    lost.signal.addEventListener('abort', () => this.#rememberMembers(client));
    return { client, lost: lost.signal, release: () => client.shutdown() };
  }

  async #newClient(log: ClientLog, lost: AbortController): Promise<HazelcastClient> {
    const onState = (state: Parameters<typeof meansLost>[0]) => meansLost(state) && lost.abort();
    const config = ownClientConfig(this.options, { log, onState, knownMembers: this.#knownMembers });
    const creating = loadHazelcastClient().Client.newHazelcastClient(config);
    try {
      // A client that loses its first connection before it has the list of members shuts itself down, but its promise
      // hangs for two minutes more: hence the signal.
      return await unlessAborted(creating, lost.signal, 'the client shut itself down');
    } catch (error) {
      // What fails is this very error, or the shutdown of what nobody uses.
      creating.then((late) => late.shutdown()).catch(() => undefined);
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
