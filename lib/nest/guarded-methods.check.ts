import { parseRunOptions } from '../gatekeeper/index.js';
import {
  InvalidOptionsError,
  type SemaphoreDefinition,
  type SemaphoreDefinitionInput,
  isOneLine,
  parseDefinition,
  unreserved,
} from '../core/decision/index.js';
import { missedFaults } from './catch-up.js';
import {
  NO_DURATION,
  NOT_ONE_LINE,
  OTHER_DURATION,
  SECOND_MISSED,
  TWICE,
  UNDEFINED,
  UNSTABLE_MISSED,
} from './messages.js';
import type { GuardedMethod } from './guarded-method.js';
import { jobFor } from './cluster-singleton.decorator.js';

export interface CheckContext {
  /** Names in GatekeeperModule's definitions. */
  readonly configured: ReadonlySet<string>;
  readonly requireDefinitions: boolean;
  /** ms */
  readonly clockTolerance: number;
}

/** Faults of the guarded methods, and the definitions that their durations make. */
export interface CheckResult {
  readonly faults: readonly string[];
  readonly definitions: readonly SemaphoreDefinitionInput[];
}

/** Stands for a missing duration, so that the name is still checked. */
const ANY_DURATION = '1d';

/** Stands for any name that a function may return. */
const LONGEST_SEMAPHORE = 'x'.repeat(200);

/** Checks all guarded methods of an application. Pure. */
export function checkGuardedMethods(methods: readonly GuardedMethod[], context: CheckContext): CheckResult {
  const faults: string[] = [];
  const made = new Map<string, { definition: SemaphoreDefinition; method: string }>();
  for (const guarded of methods) {
    const own = [...optionFaults(guarded), ...nameFaults(guarded, methods), ...durationFaults(guarded, context)];
    faults.push(...own);
    const definition = own.length > 0 ? undefined : madeBy(guarded, context);
    if (!definition) continue;
    const other = made.get(definition.name);
    if (other && other.definition.duration !== definition.duration) {
      faults.push(
        OTHER_DURATION(guarded.method, definition.name, definition.duration, other.method, other.definition.duration),
      );
    }
    made.set(definition.name, { definition, method: guarded.method });
  }
  return { faults, definitions: [...made.values()].map(({ definition }) => definition) };
}

function optionFaults(guarded: GuardedMethod): string[] {
  const { method, metadata } = guarded;
  if (metadata.count > 1) return [TWICE('@ClusterSingleton', method)];
  if (!isOneLine(method)) return [NOT_ONE_LINE('@ClusterSingleton', method)];
  const job = typeof metadata.semaphore === 'function' ? jobFor(guarded.job, LONGEST_SEMAPHORE) : guarded.job;
  const faults = faultsOfAttempt(method, () => parseRunOptions(method, { ...metadata.options, job }));
  if (faults.length > 0) return faults;
  return missedFaults(guarded).map((fault) => `${method}: ${fault}`);
}

/** The times of jobs with `missed: 'once'` are kept by the name of the job. */
function nameFaults({ method, job, unstable, metadata }: GuardedMethod, methods: readonly GuardedMethod[]): string[] {
  const { semaphore, missed } = metadata;
  if (missed !== 'once' || typeof semaphore === 'function') return [];
  if (unstable) return [UNSTABLE_MISSED(method, unstable)];
  return methods.filter((other) => other.job === job).length > 1 ? [SECOND_MISSED(method, semaphore)] : [];
}

function durationFaults({ method, metadata }: GuardedMethod, context: CheckContext): string[] {
  const { semaphore, duration } = metadata;
  // A function's names are known only at a call. Its duration can be checked now, with any name.
  const name = typeof semaphore === 'function' ? 'any' : semaphore;
  const definition = { name, duration: duration ?? ANY_DURATION };
  const faults = [
    ...faultsOfAttempt(method, () => unreserved(name)),
    ...faultsOfAttempt(method, () => parseDefinition(definition, context.clockTolerance)),
  ];
  if (faults.length > 0 || typeof semaphore === 'function' || context.configured.has(name)) return faults;
  if (context.requireDefinitions) return [UNDEFINED(method, name)];
  return duration === undefined ? [NO_DURATION(method, name)] : [];
}

function madeBy({ metadata }: GuardedMethod, context: CheckContext): SemaphoreDefinition | undefined {
  const { semaphore: name, duration } = metadata;
  if (typeof name !== 'string' || duration === undefined || context.configured.has(name)) return undefined;
  if (context.requireDefinitions) return undefined;
  return parseDefinition({ name, duration }, context.clockTolerance);
}

function faultsOfAttempt(method: string, attempt: () => unknown): string[] {
  try {
    attempt();
    return [];
  } catch (error) {
    if (error instanceof InvalidOptionsError) return error.faults.map((fault) => `${method}: ${fault}`);
    throw error;
  }
}
