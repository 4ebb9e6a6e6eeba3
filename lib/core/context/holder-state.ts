import type { SemaphoreRecord } from '../decision/index.js';
import type { HolderState } from './answers.js';
import type { NodeIdentity } from './node-identity.js';

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
