import { z } from 'zod';
import type { SemaphoreOverview } from '../../gatekeeper/index.js';
// Not from the index, because that also loads Nest, which takes long.
import { reasonSchema } from '../../core/context/change-options.js';
import {
  type SemaphoreDefinition,
  definitionSchema,
  faultsOf,
  nameSchema,
  onlyFields,
  quoted,
} from '../../core/decision/index.js';
import type { Failure } from '../session/batches.js';
import { UsageFailure } from '../options/exit-code.js';
import type { Overview } from '../operator/operator.js';

/** All definitions, for a backup. Permits are not part of it, because a file can't restore a holder. */
export interface Dump {
  readonly version: 1;
  /** Time of the dump: cluster time, ms since the epoch. */
  readonly at: number;
  readonly semaphores: readonly DumpedSemaphore[];
}

/** A definition without regard to a pause, and the pause, if there is one. */
export interface DumpedSemaphore extends SemaphoreDefinition {
  readonly pause?: { readonly by: string; readonly at: number; readonly reason?: string | undefined } | undefined;
}

const schema = onlyFields({
  version: z.literal(1),
  at: z.number(),
  semaphores: z.array(
    definitionSchema.extend({
      pause: onlyFields({ by: nameSchema, at: z.number(), reason: reasonSchema.optional() }).optional(),
    }),
  ),
});

/**
 * Makes a dump. Leaves out removed and unreadable semaphores. Also leaves out names on demand, which exist only while a permit
 * of them is held: a load would define them for good.
 */
export function dumpOf({ now, semaphores }: Overview): Dump {
  return { version: 1, at: now, semaphores: semaphores.flatMap(dumped) };
}

/** The unreadable semaphores. A backup without them is incomplete. */
export function leftOutOf({ semaphores }: Overview): Failure[] {
  return semaphores.flatMap(({ name, problem }) =>
    problem === undefined ? [] : [{ name, error: `left out of the dump: ${problem}` }],
  );
}

function dumped({ definition, pause, isOnDemand }: SemaphoreOverview): DumpedSemaphore[] {
  if (!definition || isOnDemand) return [];
  if (!pause) return [definition];
  const { by, at, reason, groupPattern } = pause;
  return [{ ...definition, groupPattern, pause: { by, at, ...(reason !== undefined && { reason }) } }];
}

/** @throws UsageFailure that lists every fault */
export function parseDump(input: unknown, source: string): Dump {
  const parsed = schema.safeParse(input);
  if (!parsed.success) {
    const faults = faultsOf(parsed.error).slice(0, 10).join('; ');
    throw new UsageFailure(`${source} is not a dump of "gatekeeper dump": ${faults}`);
  }
  const { semaphores } = parsed.data;
  const twice = semaphores.find(({ name }, index) => semaphores.findIndex((other) => other.name === name) !== index);
  if (twice) throw new UsageFailure(`${source} defines ${quoted(twice.name)} twice: leave one of them out`);
  return parsed.data;
}
