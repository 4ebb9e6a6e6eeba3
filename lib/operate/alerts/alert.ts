import { createHash } from 'node:crypto';
import type { Alert, AlertKind } from '../../core/context/alert.js';
import type { NodeIdentity } from '../../core/context/node-identity.js';

/** A trouble, as long as it lasts. */
export interface Condition {
  readonly kind: AlertKind;
  /** Tells it from others of its kind. */
  readonly subject: string;
  /** For people: the trouble, and what to do. */
  readonly sentence: string;
  /** Cluster time at which it began: ms since the epoch. */
  readonly since: number;
  readonly semaphore?: string;
  readonly job?: string;
}

/** Kinds that each node sends for itself, because the store can't say which other node has sent one. */
export const OWN_KINDS: ReadonlySet<AlertKind> = new Set(['store-lost', 'quorum-lost']);

const CRITICAL: ReadonlySet<AlertKind> = new Set([...OWN_KINDS, 'no-leader', 'resources-unowned']);
/** Characters of a sentence, which may contain the message of any error. */
const LONGEST_SENTENCE = 1000;

/** Identifies a condition in all messages about it. */
export function keyOf({ kind, subject }: Pick<Condition, 'kind' | 'subject'>): string {
  return `${kind}\n${subject}`;
}

/** A short key, without the texts of the condition. */
export function idOf(condition: Pick<Condition, 'kind' | 'subject'>): string {
  return digest(keyOf(condition), '');
}

/** Makes the message about a condition. Pure. @param endsAt cluster time of its end; absent while it lasts */
export function alertAbout(condition: Condition, node: NodeIdentity, count: number, endsAt?: number): Alert {
  const { kind, subject, sentence, since, semaphore, job } = condition;
  const isOwn = OWN_KINDS.has(kind);
  return {
    id: isOwn ? digest(keyOf(condition), node.instance) : idOf(condition),
    groupKey: digest(kind, isOwn ? '' : subject),
    kind,
    status: endsAt === undefined ? 'firing' : 'resolved',
    severity: CRITICAL.has(kind) ? 'critical' : 'warning',
    startsAt: since,
    ...(endsAt !== undefined && { endsAt }),
    count,
    sentence: sentence.slice(0, LONGEST_SENTENCE),
    ...(semaphore !== undefined && { semaphore }),
    ...(job !== undefined && { job }),
  };
}

function digest(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16);
}
