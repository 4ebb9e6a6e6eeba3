import { readTicks } from '../core/cron/ticks.js';
import { type JobInfo, parseRunOptions } from '../gatekeeper/index.js';
import {
  InvalidOptionsError,
  type SemaphoreDefinition,
  type SemaphoreDefinitionInput,
  isOneLine,
  parseDefinition,
  show,
  unreserved,
} from '../core/decision/index.js';
import {
  NO_DURATION,
  NOT_ONE_LINE,
  OTHER_DURATION,
  SECOND_MISSED,
  TWICE,
  UNDEFINED,
  UNSTABLE_MISSED,
} from './messages.js';
import { type ScheduleMetadata, zoneOf } from './scheduler.js';
import type { UnstableName } from './class-names.js';
import { type ClusterSingletonMetadata, jobFor } from './cluster-singleton.decorator.js';

/** A guarded method of the application. */
export interface GuardedMethod {
  /** Class and method: "JobsService.export". */
  readonly method: string;
  /** Name of the job: the option `job`, or the method. */
  readonly job: string;
  /** Why the class has another name elsewhere, if the job is named after it. */
  readonly unstable?: UnstableName | undefined;
  /** The arguments of its `@ClusterSingleton`. */
  readonly metadata: Omit<ClusterSingletonMetadata, 'parameters'>;
  /** Whether its provider has a single instance, created at boot. If not, @nestjs/schedule does not run the method. */
  readonly isStatic: boolean;
  /** Whether a person may run it now; absent for a method of `@LeaderOnly`. */
  readonly runNow?: JobInfo['runNow'];
  /** Its decorator of @nestjs/schedule; absent if it has none. */
  readonly schedule?: ScheduleMetadata;
}

interface CheckContext {
  /** Names in GatekeeperModule's definitions. */
  readonly configured: ReadonlySet<string>;
  readonly requireDefinitions: boolean;
  /** ms */
  readonly clockTolerance: number;
}

/** Faults of the guarded methods, and the definitions that their durations make. */
interface CheckResult {
  readonly faults: readonly string[];
  readonly definitions: readonly SemaphoreDefinitionInput[];
}

/** Stands for a missing duration, so that the name is still checked. */
const ANY_DURATION = '1d';

/** Stands for any name that a function may return. */
const LONGEST_SEMAPHORE = 'x'.repeat(200);

/** ms: a run that waits longer for its permit could begin after another node has made up for it. */
const LONGEST_WAIT = 60_000;

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

/** Faults of the option `missed` of a guarded method, in sentences. */
function missedFaults({ schedule, isStatic, metadata }: GuardedMethod): string[] {
  const { missed, semaphore, options } = metadata;
  if (missed === undefined || missed === 'skip') return [];
  if (missed !== 'once') return [`missed: ${show(missed)} is not "skip" or "once"`];
  if (schedule?.kind !== 'cron') return ['missed: "once" needs an @Cron on the same method'];
  if (typeof semaphore === 'function') return ['missed: "once" needs a fixed name of the semaphore'];
  if (!isStatic) return ['missed: "once" needs a singleton provider'];
  if (schedule.utcOffset !== undefined) return ['missed: "once" needs a timeZone in @Cron instead of utcOffset'];
  const wait = parseRunOptions('any', options).wait ?? 0;
  if (wait >= LONGEST_WAIT) return [`missed: "once" needs a wait below ${LONGEST_WAIT} ms`];
  const read = readTicks(schedule.expression, zoneOf(schedule));
  return 'faults' in read ? read.faults.map((fault) => `missed: ${fault}`) : [];
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
