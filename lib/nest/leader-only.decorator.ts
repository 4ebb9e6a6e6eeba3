import 'reflect-metadata';
import { checkTarget, guardMethod } from './guard-method.js';
import type { GuardDecorator } from './guarded-types.js';
import { runAsLeader } from './guarded-run.js';
import {
  LEADER_ONLY,
  type LeaderOnlyMetadata,
  TERM_LISTENER,
  type TermListenerMetadata,
} from './leader-only.metadata.js';

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
  return guardMethod<LeaderOnlyMetadata>({
    decorator: '@LeaderOnly',
    key: LEADER_ONLY,
    metadata: { scope },
    run: runAsLeader,
  });
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
  return (target, property, descriptor: PropertyDescriptor) => {
    const method = descriptor?.value as object;
    checkTarget(decorator, target, property, method);
    const others = (Reflect.getMetadata(TERM_LISTENER, method) ?? []) as TermListenerMetadata[];
    Reflect.defineMetadata(TERM_LISTENER, [...others, metadata], method);
  };
}
