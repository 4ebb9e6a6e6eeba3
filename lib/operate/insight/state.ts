import type { ClusterClockReport } from '../../core/clock/index.js';
import {
  omitUndefined,
  LEADER_PREFIX,
  type SemaphoreDefinition,
  type SemaphoreRecord,
  lastGrantOf,
  mismatchOf,
  quoted,
  word,
} from '../../core/decision/index.js';
import type { StoreHealth } from '../../core/store/index.js';
import type { NodeIdentity } from '../../core/context/node-identity.js';
import type { MaybeStale, StalePart } from '../../core/context/stale.js';
import { definitionState } from '../definitions/index.js';
import { holderStates } from '../../core/context/holder-state.js';
import type { SemaphoreState } from './semaphore-answers.js';

/**
 * All semaphores and their holders, as one node sees them. If the store could not be asked, `stale` says so. Then the
 * semaphores are as this node last knew them.
 */
export interface GatekeeperState extends MaybeStale {
  /** The reporting node. */
  readonly node: NodeIdentity;
  /** The health of the store. */
  readonly store: StoreHealth;
  /** The cluster clock, as this node knows it. */
  readonly clock: ClusterClockReport;
  /** Sorted by name. */
  readonly semaphores: readonly SemaphoreState[];
}

/** The node's knowledge besides the record. */
export interface Standpoint {
  readonly node: NodeIdentity;
  /** Cluster time in ms. */
  readonly now: number;
  /** The definition of that name in the node's code. */
  readonly code?: SemaphoreDefinition;
}

export function semaphoreState(name: string, record: SemaphoreRecord, { node, now, code }: Standpoint): SemaphoreState {
  const { definition, revision } = record;
  const holders = holderStates(record, { node, now });
  const free = Math.max(0, (definition?.permits ?? 0) - holders.filter((holder) => holder.remaining > 0).length);
  const isForThisNode = definition !== undefined && mismatchOf(definition, node) === undefined;
  const lastGrantAt = lastGrantOf(record.lastToken);
  return {
    name,
    revision,
    // Of a removed one, too: nothing runs although the code defines it.
    ...(definitionState(record, code) ?? omitUndefined({ code, change: record.change })),
    ...omitUndefined({ isOnDemand: record.isOnDemand }),
    holders,
    free,
    ...(lastGrantAt !== undefined && { lastGrantAt }),
    isForThisNode,
  };
}

/** Formats a state for the log: a line per stale part, a line per semaphore, then a line per scope of leadership. */
export function stateLines({ stale = [], semaphores }: GatekeeperState): string[] {
  const scopes = semaphores.filter(({ name, definition }) => definition && name.startsWith(LEADER_PREFIX));
  return [...stale.map(staleLine), ...semaphores.map(stateLine), ...scopes.map(scopeLine)];
}

function scopeLine({ name, holders, pause }: SemaphoreState): string {
  const leader = holders.find(({ remaining }) => remaining > 0);
  const scope = `state scope=${word(name.slice(LEADER_PREFIX.length))}`;
  if (!leader) return `${scope} leader=none${pause ? ` paused-by=${word(pause.by)}` : ''}`;
  const { token, grantedAt, remaining } = leader;
  return (
    `${scope} leader=${holderWord(leader)} term=${token} since=${new Date(grantedAt).toISOString()} ` +
    `ends-in=${(remaining / 1000).toFixed(1)}s`
  );
}

function holderWord({ group, acquirer, instance }: NodeIdentity): string {
  return `${word(group)}/${word(acquirer)}/${word(instance.slice(0, 8))}`;
}

function staleLine({ sentence, since }: StalePart): string {
  const time = since === undefined ? 'never' : new Date(since).toISOString();
  return `state stale as-of=${time} problem=${quoted(sentence)}`;
}

/** All fields stand on one line, so that grep finds them. */
function stateLine({ name, definition, revision, holders, free, problem }: SemaphoreState): string {
  if (problem) return `state semaphore=${word(name)} problem=${quoted(problem)}`;
  if (!definition) return `state semaphore=${word(name)} removed revision=${revision}`;
  const held = holders.map(
    ({ slot, token, remaining, ...holder }) =>
      `${slot}:${holderWord(holder)}(token ${token}, ${(remaining / 1000).toFixed(1)}s)`,
  );
  return (
    `state semaphore=${word(name)} permits=${definition.permits} free=${free} held=[${held.join(' ')}] ` +
    `group=${patternText(definition.groupPattern)} acquirer=${patternText(definition.acquirerPattern)} duration=${definition.duration}ms revision=${revision}`
  );
}

/** Matches patterns without a space, quote or slash. Those characters could look like the end of the field. */
const PLAIN_PATTERN = /^[!#-.0-~]*$/;

function patternText(pattern: string): string {
  return PLAIN_PATTERN.test(pattern) ? `/${pattern}/` : quoted(pattern);
}
