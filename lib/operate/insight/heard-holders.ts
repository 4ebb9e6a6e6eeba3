import type { NodeInfo } from '../activity/index.js';
import type { HolderState } from '../../core/context/answers.js';
import { isProgram } from '../../core/context/node-identity.js';
import { RELEASED_INSTANCE } from '../../core/decision/index.js';
import type { HolderOverview } from './semaphore-answers.js';

/** ms after its grant or its last renewal for which a permit itself shows that its holder lives. */
const SIGN_OF_LIFE = 10_000;

/** Instances of the living nodes. Undefined if that is unknown: the nodes can't be read, or none publishes itself. */
export function heardOf(nodes: readonly NodeInfo[], isCurrent: boolean): ReadonlySet<string> | undefined {
  return isCurrent && nodes.length > 0 ? new Set(nodes.map(({ instance }) => instance)) : undefined;
}

/**
 * Marks the holders that are no longer heard of. Pure.
 *
 * @param heard result of {@link heardOf}
 * @param now cluster time in ms
 */
export function withUnheard(
  holders: readonly HolderState[],
  heard: ReadonlySet<string> | undefined,
  now: number,
): readonly HolderOverview[] {
  if (!heard) return holders;
  return holders.map((holder) => (isUnheard(holder, heard, now) ? { ...holder, isUnheard: true } : holder));
}

function isUnheard({ instance, grantedAt, expiresAt, duration }: HolderState, heard: ReadonlySet<string>, now: number) {
  if (heard.has(instance) || isProgram(instance) || instance === RELEASED_INSTANCE) return false;
  // A clock that stamped it may have been ahead. Then its end tells nothing about its last refresh.
  const refreshed = expiresAt - duration <= now + SIGN_OF_LIFE ? expiresAt - duration : 0;
  return now - Math.max(grantedAt, refreshed) > SIGN_OF_LIFE;
}
