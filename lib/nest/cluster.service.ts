import { Inject, Injectable } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { z } from 'zod';
import { InvalidOptionsError, faultsOf, onlyFields, show } from '../core/decision/index.js';
import {
  type Cluster,
  type ClusterStatus,
  type Gatekeeper,
  type ScopeStatus,
  type Term,
  partsOf,
  scopeStatus,
  signalSchema,
} from '../gatekeeper/index.js';
import { GatekeeperService } from './gatekeeper.service.js';
import { Lifecycle } from './lifecycle.module.js';
import { SharedService } from './shared-services.js';

/** Options of `lead`. */
export interface LeadOptions {
  /** Ends the work and stops leading it again. The leadership itself goes on. */
  readonly signal?: AbortSignal;
}

const waitSchema = z.object({ signal: signalSchema.optional() });

const leadSchema = z.object({
  work: z.custom<(term: Term) => unknown>((value) => typeof value === 'function', {
    error: ({ input }) => `${show(input)} is not a function`,
  }),
  options: onlyFields({ signal: signalSchema.optional() }),
});

/**
 * The leadership of scopes: who leads, and work that only the leader does. Each method with a `scope` throws
 * UnknownScopeError for a name that is not in the option `leadership.scopes`; the default is the first one.
 */
@Injectable()
@SharedService('ClusterService')
export class ClusterService {
  constructor(
    @Inject(GatekeeperService) private readonly gatekeeper: Gatekeeper,
    @Inject(Lifecycle) private readonly lifecycle: Lifecycle,
  ) {}

  /** Names of the scopes of this node. The first one is the default. */
  get scopes(): readonly string[] {
    return this.#cluster.settings.scopes;
  }

  /**
   * Begins to take part in all scopes. The module calls this when the application has booted and `leadership.enabled` is
   * true. Otherwise call it. Before the end of the boot it only notes the wish, so that no work of a leader begins before.
   * Idempotent. Does not wait for the boot or the store: see {@link whenLeader} and {@link status$}.
   */
  initialize(): Promise<void> {
    const cluster = this.#cluster;
    return this.lifecycle.afterBoot(() => cluster.initialize());
  }

  /** This node, the leader and the living nodes, each by its instance. As this node knows them; asks nothing. */
  clusterStatus(scope?: string): ClusterStatus {
    return this.#cluster.status(scope);
  }

  /** {@link clusterStatus} of the default scope after each change. Replays the last one. Completes at the shutdown. */
  get status$(): Observable<ClusterStatus> {
    return this.#cluster.status$;
  }

  /** Leader, term and its start, as this node knows them, and why this node does not lead. Asks nothing. */
  status(scope?: string): ScopeStatus {
    const { cluster, context } = partsOf(this.gatekeeper);
    return scopeStatus(cluster.scope(scope), context.isClosing());
  }

  /**
   * Whether this node leads now. Reads the node's own clocks and asks nothing. False when in doubt: two nodes never
   * answer true at the same cluster time. Also false while this node is disconnected from the store.
   */
  isLeader(scope?: string): boolean {
    return this.#cluster.scope(scope).isLeader;
  }

  /**
   * Waits until this node leads; at once if it does.
   *
   * @throws the signal's reason if it aborts, or NotLeaderError when this node shuts down
   * @throws InvalidOptionsError
   */
  async whenLeader(signal?: AbortSignal, scope?: string): Promise<Term> {
    const { error } = waitSchema.safeParse({ signal });
    if (error) throw new InvalidOptionsError('whenLeader()', faultsOf(error));
    return this.#cluster.scope(scope).whenLeader(signal);
  }

  /**
   * Runs `work` while this node leads, once in each of its terms. `term.signal` aborts when the term ends, or when
   * `options.signal` does. The term's permit waits for the work, for `shutdownGrace` at most. Errors of the work only
   * make a `problem` event, and the work runs again in the next term of this node.
   *
   * @returns a promise that resolves when `options.signal` has aborted, or this node shuts down, and the work has ended.
   *   It never rejects because of the work
   * @throws InvalidOptionsError
   */
  async lead(scope: string, work: (term: Term) => unknown, options: LeadOptions = {}): Promise<void> {
    const { error } = leadSchema.safeParse({ work, options });
    if (error) throw new InvalidOptionsError(`lead() of scope ${show(scope)}`, faultsOf(error));
    await this.#cluster.scope(scope).lead(work, options.signal);
  }

  /**
   * Gives the leadership up. The term's signal aborts at once, the work under it ends, then the permit goes back. This
   * node does not ask for it again for 6 s, so that others go first. Resolves when the permit went back. Called in the work
   * of the term, it does not wait.
   *
   * @returns false if this node does not lead
   */
  async resign(scope?: string): Promise<boolean> {
    return this.#cluster.scope(scope).resign();
  }

  /**
   * Makes another node the leader, from any node. The leader ends its term as with {@link resign}. For 6 s from then on, only
   * the target can lead; after that any node can. Resolves when this node has asked for it and, if it leads, its permit
   * went back.
   *
   * @param nodeId instance of the node, as in {@link clusterStatus}
   * @throws CannotLeadError if the node is no living participant, or the scope's patterns do not match it; also if this node
   *   leads and goes on to lead: another transfer followed, or a grace after lost data lets only this node have the permit
   * @throws StoreUnavailableError (NoQuorumError) or UnknownOutcomeError if the store gives no clear answer
   */
  async transferTo(nodeId: string, scope?: string): Promise<void> {
    return this.#cluster.transferTo(nodeId, scope);
  }

  get #cluster(): Cluster {
    return partsOf(this.gatekeeper).cluster;
  }
}
