import { z } from 'zod';
import { durationSchema, nameSchema, onlyFields, show } from '../core/decision/index.js';
import { delaySchema, wholeSchema } from '../core/decision/option-types.js';
import { type MovementLimit, movementLimitSchema } from './assign/movement-limit.js';
import { MOST_WEIGHT } from './assign/participant.js';
import type { Strategy } from './assign/strategy.js';

/** A resource that this node owns. */
export interface Allocated<T = unknown> {
  /** Id of the resource. */
  readonly id: string;
  /** Fencing token: grows with every change of owner. Send it with each write. */
  readonly token: number;
  /** The resource as this node's `resources` returned it; undefined if this node's set does not have it. */
  readonly resource: T | undefined;
}

/** One change of what this node owns. */
export interface AllocationChange<T = unknown> {
  /** New ones, and those that got a new token. */
  readonly added: readonly Allocated<T>[];
  /** Stop working on these: after the callback has ended, another node may own them. */
  readonly revoked: readonly Allocated<T>[];
  /** Aborts when `handoverTimeout` is over. */
  readonly signal: AbortSignal;
}

/** Called after each change, one call at a time, with all that the node owns after it. */
export type AllocationListener<T = unknown> = (owned: readonly Allocated<T>[], change: AllocationChange<T>) => unknown;

/** Options of an allocation group. Durations are ms, or text ("5m", "PT5M"). */
export interface AllocationGroupOptions<T = unknown> {
  /**
   * Returns all resources of the group, or a promise of them. It may return others at each call. All nodes should
   * return the same; while they differ, those of the leader count. See docs/allocation.md#the-set-of-resources.
   */
  readonly resources: () => Iterable<T> | Promise<Iterable<T>>;
  /** Returns the id of a resource: 1 to 500 characters, each id once. */
  readonly id: (item: T) => string;
  /**
   * Called after each change, as a method with `@AllocatedResources`. Awaited before a revoked resource may go to
   * another node, for `handoverTimeout` at most.
   *
   * @defaultValue none
   */
  readonly onAllocated?: AllocationListener<T>;
  /**
   * This node's share, compared with the others: a whole number from 0 (it owns nothing) to 1000.
   *
   * @defaultValue 1
   */
  readonly weight?: number;
  /**
   * How to divide. `'sticky'`: even, with the fewest moves. `'even'`: the same result whatever was before. Or your
   * function. See docs/allocation.md#who-gets-what.
   *
   * @defaultValue `'sticky'`
   */
  readonly strategy?: Strategy;
  /**
   * Interval at which `resources` is called.
   *
   * @defaultValue 30s
   */
  readonly refreshInterval?: number | string;
  /**
   * Longest time for which callbacks and work may keep a revoked resource.
   *
   * @defaultValue 10s
   */
  readonly handoverTimeout?: number | string;
  /**
   * Time without joins and shutdowns of nodes after which resources move for balance. Resources without an owner do not
   * wait, so a rolling restart moves many (docs/allocation.md#traps).
   *
   * @defaultValue 2s
   */
  readonly settleDelay?: number | string;
  /**
   * How many resources may be on the way for balance at the same time, `{ count, share }`: as a number, as a part of
   * all resources, or both. The smaller one counts.
   *
   * @defaultValue no limit
   */
  readonly movement?: MovementLimit;
}

/** An allocation group of the option `allocation.groups`. */
export interface AllocationGroupDefinition<T = unknown> extends AllocationGroupOptions<T> {
  /** The same on all nodes. */
  readonly name: string;
}

/** Options of the allocation of resources. */
export interface AllocationOptions {
  /** The groups that this node takes part in from its start. Default: none. */
  // A list of groups with different kinds of resources has no better type.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly groups?: readonly AllocationGroupDefinition<any>[];
}

const functionSchema = <F>() =>
  z.custom<F>((value) => typeof value === 'function', {
    error: ({ input }) => (input === undefined ? 'is missing: give a function' : `${show(input)} is not a function`),
  });

const strategySchema = z.custom<Strategy>(
  (value) => typeof value === 'function' || value === 'sticky' || value === 'even',
  { error: ({ input }) => `${show(input)} is not "sticky", "even" or a function` },
);

const fields = {
  resources: functionSchema<() => Iterable<unknown> | Promise<Iterable<unknown>>>(),
  id: functionSchema<(item: unknown) => string>(),
  onAllocated: functionSchema<AllocationListener>().optional(),
  weight: wholeSchema(0, MOST_WEIGHT).default(1),
  strategy: strategySchema.default('sticky'),
  refreshInterval: durationSchema.default(30_000),
  handoverTimeout: durationSchema.default(10_000),
  settleDelay: delaySchema.default(2000),
  movement: movementLimitSchema.default({}),
};

/** zod type of {@link AllocationGroupOptions}. */
export const groupSchema = onlyFields(fields);

/** Prefix of the keys of all groups in the store. */
export const ALLOCATION_PREFIX = 'allocation:';

/** Largest number of groups of one node: each heartbeat reads two texts of each of them. */
export const MOST_GROUPS = 200;
export const TOO_MANY = `a node can take part in ${MOST_GROUPS} groups at most: put several kinds of resources into one`;

const groupsSchema = z
  .array(onlyFields({ name: nameSchema, ...fields }), {
    error: ({ input }) => `${show(input)} is not a list of groups`,
  })
  .refine((groups) => new Set(groups.map(({ name }) => name)).size === groups.length, 'has two groups of one name')
  .refine(({ length }) => length <= MOST_GROUPS, TOO_MANY);

/** zod type of {@link AllocationOptions}. */
export const allocationSchema = onlyFields({ groups: groupsSchema.default([]) });

/** {@link AllocationGroupOptions} with defaults, durations in ms. */
export type GroupSettings = z.output<typeof groupSchema>;
