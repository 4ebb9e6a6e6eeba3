import type { SemaphoreRecord, StoredPermit } from '../decision/index.js';
import type { NodeIdentity } from './node-identity.js';

/** A permit that is held, with the time that it has left. */
export interface HolderState extends StoredPermit {
  /** ms until it ends by cluster time; negative when it is over but not yet dropped. */
  readonly remaining: number;
  /** Held by the node that reports. */
  readonly isMine: boolean;
}

/** @param standpoint.now cluster time in ms */
export function holderStates(
  { permits }: SemaphoreRecord,
  { node, now }: { readonly node: NodeIdentity; readonly now: number },
): HolderState[] {
  return permits.map((permit) => ({
    ...permit,
    remaining: permit.expiresAt - now,
    isMine: permit.instance === node.instance,
  }));
}
