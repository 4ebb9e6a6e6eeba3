import {
  type NameMatcher,
  type SemaphoreDefinition,
  type SemaphoreRecord,
  compilePattern,
  intendedDefinition,
  matchersOf,
  mismatchOf,
} from '../../semaphores/index.js';
import type { NodeIdentity } from '../context/context.js';
import type { NodeInfo } from '../nodes/index.js';
import { type HolderState, holderStates } from '../state/holder-state.js';
import type { MigrationRequest, Patterns } from './migration-request.js';

/** What a migration does with one definition. */
export interface MigrationStep {
  readonly name: string;
  /** The one that it begins from: if somebody was faster, the step fails. */
  readonly revision: number;
  readonly from: Patterns;
  readonly to: Patterns;
  /** Who holds a permit and will get none any more. */
  readonly moving: readonly HolderState[];
  /** The living nodes that will be let through. */
  readonly candidates: readonly NodeIdentity[];
  readonly outcome: 'planned' | 'migrated' | 'failed';
  /** What it failed with. */
  readonly error?: string;
}

export interface MigrationPlan {
  /** By name. Only for what is not so already, so that calling again goes on. */
  readonly steps: readonly MigrationStep[];
  /** How many `limit` left for the next call. */
  readonly remaining: number;
}

/** What is known when a migration is planned. */
export interface Inventory {
  readonly records: ReadonlyMap<string, SemaphoreRecord>;
  readonly nodes: readonly NodeInfo[];
  /** The node that plans. */
  readonly node: NodeIdentity;
  /** Cluster time in ms. */
  readonly now: number;
}

/** Plans all steps of a migration, by name. Pure. What is paused counts by its definition of afterwards. */
export function planSteps({ names, group, to }: MigrationRequest, inventory: Inventory): MigrationStep[] {
  const isNamed = nameMatcher(names);
  return [...inventory.records]
    .filter(([name]) => isNamed(name))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, record]) => {
      const definition = intendedDefinition(record);
      if (!definition || (group !== undefined && !matchersOf(definition).group(group))) return [];
      const next = { ...definition, ...given(to) };
      return isSame(definition, next) ? [] : [stepOf(record, definition, next, inventory)];
    });
}

/** @param names a valid pattern; without one every name matches */
export function nameMatcher(names: string | undefined): NameMatcher {
  const matcher = compilePattern(names ?? '.*');
  if (typeof matcher === 'string') throw new TypeError(matcher);
  return matcher;
}

function stepOf(
  record: SemaphoreRecord,
  from: SemaphoreDefinition,
  to: SemaphoreDefinition,
  { nodes, node, now }: Inventory,
): MigrationStep {
  const staying = (who: { group: string; acquirer: string }) => mismatchOf(to, who) === undefined;
  return {
    name: from.name,
    revision: record.revision,
    from: patternsOf(from),
    to: patternsOf(to),
    moving: holderStates(record, { node, now }).filter((holder) => holder.remaining > 0 && !staying(holder)),
    candidates: nodes.filter(staying).map(({ group, acquirer, instance }) => ({ group, acquirer, instance })),
    outcome: 'planned',
  };
}

function patternsOf({ groupPattern, acquirerPattern }: Patterns): Patterns {
  return { groupPattern, acquirerPattern };
}

function isSame(one: Patterns, other: Patterns): boolean {
  return one.groupPattern === other.groupPattern && one.acquirerPattern === other.acquirerPattern;
}

/** Without what is undefined, which would take the place of what is there. */
function given({ groupPattern, acquirerPattern }: Partial<Patterns>): Partial<Patterns> {
  return {
    ...(groupPattern !== undefined && { groupPattern }),
    ...(acquirerPattern !== undefined && { acquirerPattern }),
  };
}
