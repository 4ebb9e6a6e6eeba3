import type { AppSettings } from '../../apps/settings.js';
import type { Network } from './network.js';
import type { StoreName } from './stores.js';

/** A store in its network, which several faults use one after the other. */
export interface FaultSite extends AsyncDisposable {
  readonly options: { readonly store: StoreName; readonly folder: string };
  readonly network: Network;
  /** Settings by which a client finds the store. @param client number of the client, from 1 */
  settings(client: number): Pick<AppSettings, 'clusterName' | 'members' | 'server' | 'store'>;
  /** Waits until the store can serve all clients. */
  whole(within?: number): Promise<void>;
}
