import type { ClusterClockReport } from '../clock/index.js';
import {
  type SemaphoreDefinition,
  type SemaphoreRecord,
  lastGrantOf,
  mismatchOf,
  quoted,
  word,
} from '../decision/index.js';
import type { StoreHealth } from '../stores/index.js';
import type { NodeIdentity } from '../context/node-identity.js';
import { type DefinitionState, definitionState } from '../definitions/index.js';
import type { StalePart } from './health-report.js';
import { type HolderState, holderStates } from '../context/holder-state.js';

/** All semaphores and their holders, as one node sees them. */
export interface GatekeeperState {
  /** The node that reports. */
  readonly node: NodeIdentity;
  /** The health of the store. */
  readonly store: StoreHealth;
  /** The cluster clock, as this node knows it. */
  readonly clock: ClusterClockReport;
  /** By name. */
  readonly semaphores: readonly SemaphoreState[];
  /** Not empty: the store could not be asked, and the semaphores are as this node last knew them. */
  readonly stale: readonly StalePart[];
}

/** A semaphore as one node sees it: definition, holders and free permits. */
export interface SemaphoreState extends Partial<DefinitionState> {
  /** Name of the semaphore. */
  readonly name: string;
  /** Absent: the semaphore was removed, or its record can't be read. */
  readonly definition?: SemaphoreDefinition;
  /** Revision of the definition in force. */
  readonly revision: number;
  /** Held permits, including those that have ended but are not dropped yet. */
  readonly holders: readonly HolderState[];
  /** How many more permits the definition allows now. */
  readonly free: number;
  /** Cluster time in ms of the last grant, refreshes aside; absent: there was none. */
  readonly lastGrantAt?: number;
  /** Whether this node's group and acquirer match. */
  readonly isForThisNode: boolean;
  /** Why the record can't be read. */
  readonly problem?: string;
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
    ...definitionState(record, code),
    holders,
    free,
    ...(lastGrantAt !== undefined && { lastGrantAt }),
    isForThisNode,
  };
}

/** One line per semaphore; first a line for each stale part. */
export function stateLines({ stale, semaphores }: GatekeeperState): string[] {
  return [...stale.map(staleLine), ...semaphores.map(stateLine)];
}

function staleLine({ sentence, asOf }: StalePart): string {
  const time = asOf === undefined ? 'never' : new Date(asOf).toISOString();
  return `state stale as-of=${time} problem=${quoted(sentence)}`;
}

/** One line that can be found with grep. */
function stateLine({ name, definition, revision, holders, free, problem }: SemaphoreState): string {
  if (problem) return `state semaphore=${word(name)} problem=${quoted(problem)}`;
  if (!definition) return `state semaphore=${word(name)} removed revision=${revision}`;
  const held = holders.map(
    ({ slot, group, acquirer, instance, token, remaining }) =>
      `${slot}:${word(group)}/${word(acquirer)}/${word(instance.slice(0, 8))}(token ${token}, ${(remaining / 1000).toFixed(1)}s)`,
  );
  return (
    `state semaphore=${word(name)} permits=${definition.permits} free=${free} held=[${held.join(' ')}] ` +
    `group=${patternText(definition.groupPattern)} acquirer=${patternText(definition.acquirerPattern)} duration=${definition.duration}ms revision=${revision}`
  );
}

/** Patterns without a blank, quote or slash, which could look like the end of the field. */
const PLAIN_PATTERN = /^[!#-.0-~]*$/;

function patternText(pattern: string): string {
  return PLAIN_PATTERN.test(pattern) ? `/${pattern}/` : quoted(pattern);
}
