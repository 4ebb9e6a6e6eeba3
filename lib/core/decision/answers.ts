import { z } from 'zod';
import { named, time, whole } from './answer-values.js';
import { CHANGES } from './change-kinds.js';

/*
 * The parts of a record as people and programs see them. Import only types from here in code that an application loads. A field
 * with a docstring besides its description says more there than the document of the API.
 */

export const definitionSchema = z
  .object({
    name: z.string().meta({ description: '1 to 200 characters on one line' }),
    /** RE2; must match the node's whole group. Its cost is limited: see `costFault`. */
    groupPattern: z.string().meta({ description: "RE2; must match the node's whole group" }),
    /** RE2; must match the whole name of the acquirer. The same limits apply as for `groupPattern`. */
    acquirerPattern: z.string().meta({ description: 'RE2; must match the whole name of the acquirer' }),
    permits: whole.meta({ description: '0 to 1,000. 0 is a pause: no node gets a new permit' }),
    /** How long a permit lasts, in ms, unless it is refreshed. */
    duration: whole.meta({ description: 'ms' }),
  })
  .meta({ id: 'SemaphoreDefinition' });

/** Defines which nodes may hold how many permits of a semaphore, and for how long. */
export interface SemaphoreDefinition extends Readonly<z.output<typeof definitionSchema>> {}

const by = z.string();
const reason = z.string().meta({ description: 'the reason that was given' }).optional();

export const changeSchema = z
  .object({
    /** Unique. A writer that lost the answer recognises its own change by this id. */
    id: z.string().meta({ description: 'unique' }),
    kind: z.enum(CHANGES).meta({ description: 'the kind of change' }),
    by: by.meta({ description: 'name of the person or program that made the change' }),
    at: time,
    reason,
  })
  .meta({ id: 'DefinitionChange' });

/** The last change of a definition by a person or a program, or by a node that took over that of its code (`follow`). */
export interface DefinitionChange extends Readonly<z.output<typeof changeSchema>> {}

export const pauseSchema = z
  .object({
    by: by.meta({ description: 'name of the person or program that paused the semaphore' }),
    /** Cluster time in ms at which the pause began. */
    at: time,
    reason,
    groupPattern: z.string().meta({ description: 'the group pattern that applies again after the pause' }),
  })
  .meta({ id: 'Pause' });

/** A pause of a semaphore. While it lasts, the definition's group pattern matches no group. */
export interface Pause extends Readonly<z.output<typeof pauseSchema>> {}

const askedSchema = z.object({
  duration: whole.meta({ description: 'ms' }),
  under: whole.meta({
    description:
      "the definition's duration at the time of the call, in ms. If an operator shortens it later, the shorter one counts",
  }),
});

/** A duration that a call asked for instead of the definition's duration. */
export interface AskedDuration extends Readonly<z.output<typeof askedSchema>> {}

export const permitSchema = z
  .object({
    id: z.string().meta({ description: 'random id: a new permit has a new one, a refresh keeps it' }),
    slot: whole.meta({
      description: 'index of the permit, 0 .. permits-1. An application can use it as "node k of n"',
    }),
    /** Fencing token: grows with every new grant of the semaphore. A refresh keeps it. */
    token: whole.meta({ description: 'grows with every new grant: give it to the resource that you guard' }),
    instance: z.string().meta({ description: 'the process that holds it: a random id per process start' }),
    holder: z.string().meta({
      description: 'the user of the permit in that process; the instance itself unless the request named another',
    }),
    acquirer: z.string().meta({ description: 'name of the acquirer that holds it' }),
    group: z.string().meta({ description: 'group of the node that holds it' }),
    /** Cluster time in ms of the grant. */
    grantedAt: time,
    /** Cluster time in ms at which it ends. Later than it lasts, if a clock that stamped it was ahead of the others. */
    expiresAt: time,
    /** ms for which it lasts from its last write. Other nodes count this time from the moment when they first saw the write. */
    duration: whole.meta({ description: 'ms for which it lasts from its last write' }),
    /** Random, if `expiresAt` does not tell this write from others: cluster time stands still, or a clock was ahead before. */
    nonce: z
      .string()
      .optional()
      .meta({ description: 'there if a clock was ahead before: the end tells no refresh apart then' }),
    /** The duration that its calls asked for. If absent, refreshes use the definition's duration. */
    asked: named<AskedDuration>(askedSchema).optional().meta({
      id: 'AskedDuration',
      description: "ms that its holder asked for, and the definition's duration at that time",
    }),
  })
  .meta({ id: 'StoredPermit' });

/** A permit as the record keeps it: one slot of a semaphore, held by one node instance. */
export interface StoredPermit extends Readonly<z.output<typeof permitSchema>> {}
