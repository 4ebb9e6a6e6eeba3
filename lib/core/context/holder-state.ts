import type { SemaphoreRecord, StoredPermit } from '../decision/index.js';
import type { NodeIdentity } from './node-identity.js';

/** A held permit with its remaining time. */
export interface HolderState extends StoredPermit {
  /** ms until the permit ends by cluster time, at most its duration; negative if it has ended but is not dropped yet. */
  readonly remaining: number;
  /** Whether the reporting node holds the permit. */
  readonly isMine: boolean;
}

/** @param standpoint.now cluster time in ms */
export function holderStates(
  { permits }: SemaphoreRecord,
  { node, now }: { readonly node: NodeIdentity; readonly now: number },
): HolderState[] {
  return permits.map((permit) => ({
    ...permit,
    remaining: Math.min(permit.expiresAt - now, permit.duration),
    isMine: permit.instance === node.instance,
  }));
}
