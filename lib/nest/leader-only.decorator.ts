import { sharedKey } from '../core/copies/shared.js';
import { LEADER_PREFIX } from '../core/decision/index.js';
import { DEFAULT_LEASE, DEFAULT_SCOPE, isMock, isReal, partsOf } from '../gatekeeper/index.js';
import { isSecondFiring } from './firings.js';
import { type GuardedCall, type RunsJobs, defineGuard, jobName, valueOf } from './guarded-call.js';
import { type GuardDecorator, guardMethod, markMethod } from './method-decorator.js';

/** Metadata on a method that only the leader runs: its {@link LeaderOnlyMetadata}. */
export const LEADER_ONLY = sharedKey('leader-only');

/** Metadata on a method that hears of terms: a list of {@link TermListenerMetadata}. */
export const TERM_LISTENER = sharedKey('term-listener');

/** Arguments of `@LeaderOnly` on a method, as written; checked when the application boots. */
export interface LeaderOnlyMetadata {
  readonly scope?: string | undefined;
  /** How many decorators the method has; more than one is a mistake. */
  readonly count: number;
  /** Number of its parameters, without those that have a default. A decorator above may hide them. */
  readonly parameters: number;
}

/** Arguments of `@OnLeadershipGained` or `@OnLeadershipLost` on a method; checked when the application boots. */
export interface TermListenerMetadata {
  readonly kind: 'gained' | 'lost';
  readonly scope?: string | undefined;
}

const GUARD = defineGuard<LeaderOnlyMetadata>({ decorator: '@LeaderOnly', key: LEADER_ONLY, run: runAsLeader });

/**
 * Runs the method only while this node leads a scope. Elsewhere a call returns at once, with a `run-skipped` event
 * (`not-leader`). Works above and below `@Cron`, `@Interval` and `@Timeout`, and on any method that is called directly. The
 * method always returns a promise; a skipped call resolves to undefined, and the compiler refuses a method whose type has no
 * undefined. `currentPermit()` in it is the leader's term:
 * its signal aborts when the term ends, and its token fences writes.
 *
 * @param scope one of the option `leadership.scopes`. Default: the first one
 * @throws InvalidOptionsError when it decorates something other than a method of instances; everything else is checked
 *   when the application boots
 *
 * @example
 * ```ts
 * @LeaderOnly('delivery')
 * @Cron('* * * * *')
 * async poll() {
 *   await fetchMessages({ signal: currentPermit().signal });
 * }
 * ```
 */
export function LeaderOnly(scope?: string): GuardDecorator<'undefined'>;
export function LeaderOnly(scope?: string): MethodDecorator {
  return guardMethod(GUARD, { scope });
}

/**
 * Calls the method with the `Term` each time that this node becomes the leader, once per term. An error only makes a
 * `problem` event: the term goes on.
 *
 * @param scope one of the option `leadership.scopes`. Default: the first one
 */
export function OnLeadershipGained(scope?: string): MethodDecorator {
  return listens('@OnLeadershipGained', { kind: 'gained', scope });
}

/**
 * Calls the method with the `Term` each time that a term of this node has ended, once per term, also if the method for the
 * gain still runs. The term's signal has aborted already. The permit goes back when the method has ended, so another
 * node leads only after that, unless the permit expires before.
 *
 * @param scope one of the option `leadership.scopes`. Default: the first one
 */
export function OnLeadershipLost(scope?: string): MethodDecorator {
  return listens('@OnLeadershipLost', { kind: 'lost', scope });
}

function listens(decorator: string, metadata: TermListenerMetadata): MethodDecorator {
  return markMethod(decorator, TERM_LISTENER, metadata);
}

/**
 * Runs the method if this node leads. A mock, or a TestGatekeeper, decides by the scope's semaphore.
 *
 * @throws UnknownScopeError, or any error of the method
 */
async function runAsLeader(gatekeeper: RunsJobs, call: GuardedCall, { scope }: LeaderOnlyMetadata): Promise<unknown> {
  const { work } = call;
  const job = jobName(call);
  if (isSecondFiring(call, LEADER_PREFIX + (scope ?? ''))) return undefined;
  if (isReal(gatekeeper)) return valueOf(await partsOf(gatekeeper).cluster.scope(scope).run(job, work), job);
  const name = LEADER_PREFIX + (scope ?? DEFAULT_SCOPE);
  const options = { job, ...(!isMock(gatekeeper) && { duration: DEFAULT_LEASE }) };
  return valueOf(await gatekeeper.run?.(name, work, options), job);
}
