import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InvalidOptionsError, isOneLine } from '../core/decision/index.js';
import { type Cluster, type Gatekeeper, type Term, UnknownScopeError, isReal, partsOf } from '../gatekeeper/index.js';
import { NOT_CALLED, NOT_ENABLED, NOT_ONE_LINE, TWICE } from './messages.js';
import { type DecoratedMethod, DecoratedMethods, distinct } from './decorated-methods.js';
import { GatekeeperService } from './gatekeeper.service.js';
import { Lifecycle } from './lifecycle.module.js';
import {
  LEADER_ONLY,
  type LeaderOnlyMetadata,
  TERM_LISTENER,
  type TermListenerMetadata,
} from './leader-only.decorator.js';

type Listener = DecoratedMethod<readonly TermListenerMetadata[]>;

/**
 * Checks the methods of leadership when the application boots, connects those that hear of terms, and begins to take
 * part when the application has booted, so that no work of a leader begins before.
 */
@Injectable()
export class LeadershipExplorer implements OnModuleInit {
  readonly #logger = new Logger('Gatekeeper');
  /** Names of the methods that need a leader. */
  #methods: readonly string[] = [];

  constructor(
    @Inject(DecoratedMethods) private readonly decorated: DecoratedMethods,
    @Inject(GatekeeperService) private readonly gatekeeper: Gatekeeper,
    @Inject(Lifecycle) private readonly lifecycle: Lifecycle,
  ) {
    void lifecycle.afterBoot(() => this.#begin());
  }

  /** @throws InvalidOptionsError listing every fault of every method */
  onModuleInit(): void {
    if (!isReal(this.gatekeeper)) return;
    const { cluster } = partsOf(this.gatekeeper);
    const jobs = distinct(this.decorated.find<LeaderOnlyMetadata>(LEADER_ONLY));
    const listeners = this.decorated.find<readonly TermListenerMetadata[]>(TERM_LISTENER);
    const faults = [
      ...jobs.flatMap((job) => faultsOfJob(job, cluster)),
      ...distinct(listeners).flatMap(({ method, metadata }) =>
        metadata.flatMap(({ scope }) => faultsOfScope(method, scope, cluster)),
      ),
    ];
    if (faults.length > 0) throw new InvalidOptionsError('@LeaderOnly and @OnLeadership...', faults);
    this.#methods = [...jobs, ...distinct(listeners)].map(({ method }) => method);
    for (const listener of listeners) this.#connect(listener, cluster);
  }

  async #begin(): Promise<void> {
    if (!isReal(this.gatekeeper)) return;
    const { cluster } = partsOf(this.gatekeeper);
    if (cluster.settings.enabled) return cluster.initialize();
    // After the calls of initialize() by the application, which it noted later in the boot.
    return this.lifecycle.afterBoot(() => this.#warnIfOff(cluster));
  }

  #warnIfOff({ activeScopes }: Cluster): void {
    if (activeScopes.length === 0 && this.#methods.length > 0) this.#logger.warn(NOT_ENABLED(this.#methods[0]!));
  }

  #connect({ method, property, instance, isStatic, metadata }: Listener, cluster: Cluster): void {
    if (!isStatic || !instance) return this.#logger.warn(NOT_CALLED(method));
    const listener = (term: Term) => (instance as Record<string, (term: Term) => unknown>)[property]!(term);
    for (const { kind, scope } of metadata) cluster.scope(scope).on(kind, listener);
  }
}

function faultsOfJob({ method, metadata }: DecoratedMethod<LeaderOnlyMetadata>, cluster: Cluster): string[] {
  if (metadata.count > 1) return [TWICE('@LeaderOnly', method)];
  if (!isOneLine(method)) return [NOT_ONE_LINE('@LeaderOnly', method)];
  return faultsOfScope(method, metadata.scope, cluster);
}

function faultsOfScope(method: string, scope: string | undefined, cluster: Cluster): string[] {
  try {
    cluster.scope(scope);
    return [];
  } catch (error) {
    if (error instanceof UnknownScopeError) return [`${method}: ${error.message}`];
    throw error;
  }
}
