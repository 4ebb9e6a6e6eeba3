import {
  type SemaphoreDefinition,
  type SemaphoreRecord,
  compileInPieces,
  compilePattern,
  intendedDefinition,
  mismatchInPieces,
  stepsOf,
} from '../../core/decision/index.js';
import type { Pieces } from '../../core/async/slices.js';
import type { NodeIdentity } from '../../core/context/node-identity.js';
import { type NodeInfo, NodeMatches } from '../activity/index.js';
import type { HolderState } from '../../core/context/answers.js';
import { holderStates } from '../../core/context/holder-state.js';
import type { Patterns, MigrationStep } from './answers.js';
import type { MigrationRequest } from './migration-request.js';

/** Maximum number of candidates that a step names. */
const MOST_NAMED = 10;

/** State of the cluster when a migration is planned. */
export interface Inventory {
  readonly records: ReadonlyMap<string, SemaphoreRecord>;
  readonly nodes: readonly NodeInfo[];
  /** The node that plans. */
  readonly node: NodeIdentity;
  /** Cluster time in ms. */
  readonly now: number;
}

/**
 * Plans all steps of a migration, in the order of names. Pure. For a paused semaphore, plans the time after the pause.
 */
export function* planSteps(
  { group, to }: Pick<MigrationRequest, 'group' | 'to'>,
  named: readonly string[],
  inventory: Inventory,
): Pieces<MigrationStep[]> {
  const matches = new NodeMatches(inventory.nodes);
  const steps: MigrationStep[] = [];
  for (const name of named) {
    const record = inventory.records.get(name)!;
    const definition = intendedDefinition(record);
    if (!definition || (group !== undefined && !(yield* isGroupLetThrough(definition, group)))) continue;
    const next = { ...definition, ...given(to) };
    if (!isSame(definition, next)) steps.push(yield* stepOf(record, definition, next, inventory, matches));
  }
  return steps;
}

/**
 * The names that match, in order.
 *
 * @param pattern a valid pattern; default: every name matches
 */
export function* namesInPieces(pattern: string | undefined, names: Iterable<string>): Pieces<string[]> {
  const matcher = compilePattern(pattern ?? '.*');
  if (typeof matcher === 'string') throw new TypeError(matcher);
  const matching: string[] = [];
  for (const name of names) {
    yield stepsOf(matcher, name);
    if (matcher(name)) matching.push(name);
  }
  return matching.toSorted();
}

function* isGroupLetThrough(definition: SemaphoreDefinition, group: string): Pieces<boolean> {
  yield* compileInPieces([definition.groupPattern]);
  return (yield* mismatchInPieces({ ...definition, acquirerPattern: '.*' }, { group, acquirer: '' })) === undefined;
}

function* stepOf(
  record: SemaphoreRecord,
  from: SemaphoreDefinition,
  to: SemaphoreDefinition,
  { node, now }: Inventory,
  matches: NodeMatches,
): Pieces<MigrationStep> {
  const moving: HolderState[] = [];
  for (const holder of holderStates(record, { node, now })) {
    if (holder.remaining > 0 && (yield* mismatchInPieces(to, holder)) !== undefined) moving.push(holder);
  }
  const passing = yield* matches.of(to);
  return {
    name: from.name,
    revision: record.revision,
    from: patternsOf(from),
    to: patternsOf(to),
    moving,
    candidates: firstOf(passing),
    candidateCount: passing.size,
    outcome: 'planned',
  };
}

/** Every step names some nodes only: all nodes of a large cluster, once for each of thousands of steps, are 50 MB of JSON. */
function firstOf(nodes: ReadonlySet<NodeInfo>): NodeIdentity[] {
  const first: NodeIdentity[] = [];
  for (const { group, acquirer, instance } of nodes) {
    if (first.length === MOST_NAMED) break;
    first.push({ group, acquirer, instance });
  }
  return first;
}

function patternsOf({ groupPattern, acquirerPattern }: Patterns): Patterns {
  return { groupPattern, acquirerPattern };
}

function isSame(one: Patterns, other: Patterns): boolean {
  return one.groupPattern === other.groupPattern && one.acquirerPattern === other.acquirerPattern;
}

/** Drops undefined values, which would overwrite existing ones. */
function given({ groupPattern, acquirerPattern }: Partial<Patterns>): Partial<Patterns> {
  return {
    ...(groupPattern !== undefined && { groupPattern }),
    ...(acquirerPattern !== undefined && { acquirerPattern }),
  };
}
