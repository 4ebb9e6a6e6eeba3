import { BehaviorSubject, type Observable, Subscription, distinctUntilChanged, filter, merge } from 'rxjs';
import type { Membership } from '../core/members/index.js';
import type { SemaphoreDefinitionInput } from '../core/decision/index.js';
import { Candidate, type CandidateParts } from './candidate.js';
import type { Handovers } from './handovers.js';
import { CannotLeadError, UnknownScopeError } from './leadership.errors.js';

/** Leader and participants of the cluster. All values are instances of nodes. */
export interface ClusterStatus {
  /** This node. */
  readonly current: string;
  /** The leader; undefined if none is known. */
  readonly leader: string | undefined;
  /** The living nodes, this one included. */
  readonly participants: readonly string[];
}

interface ClusterParts extends CandidateParts {
  /** The living nodes, as this node knows them. */
  readonly membership: Pick<Membership, 'participants' | 'participants$'>;
  readonly handovers: Pick<Handovers, 'transfer'>;
  /** Joins the participants. */
  readonly join: () => Promise<void>;
  /** Makes sure that definitions of this node's code are loaded. */
  readonly declare: (definitions: readonly SemaphoreDefinitionInput[]) => Promise<void>;
}

/** In which scopes a node takes part, and for how long a leader's permit lasts. */
export interface ClusterSettings {
  /** Whether the application wants this node to take part from its start. */
  readonly enabled: boolean;
  /** The first one is the default. */
  readonly scopes: readonly string[];
  /** ms: the lease of a leader, unless an operator changed it. */
  readonly lease: number;
}

/** The leadership of all scopes in which this node takes part. */
export class Cluster {
  /** This node in each scope. */
  readonly candidates: readonly Candidate[];
  readonly #status: BehaviorSubject<ClusterStatus>;
  readonly #subscriptions = new Subscription();
  #initialized?: Promise<void>;

  constructor(
    private readonly parts: ClusterParts,
    /** Lease and scopes, as the options say. */
    readonly settings: ClusterSettings,
  ) {
    this.candidates = settings.scopes.map((scope) => new Candidate(scope, parts));
    this.#status = new BehaviorSubject(this.status());
    this.#subscriptions.add(parts.membership.participants$.subscribe(this.#tell));
  }

  /** The definitions of the scopes' semaphores. */
  get definitions(): readonly SemaphoreDefinitionInput[] {
    return this.candidates.map(({ semaphore }) => ({ name: semaphore, duration: this.settings.lease }));
  }

  /** Names of the scopes in which this node takes part now: none before {@link initialize}. */
  get activeScopes(): readonly string[] {
    return this.#initialized ? this.settings.scopes : [];
  }

  /** This node in a scope. @throws UnknownScopeError */
  scope(scope = this.settings.scopes[0]!): Candidate {
    const candidate = this.candidates.find((each) => each.scope === scope);
    if (!candidate) throw new UnknownScopeError(scope, this.settings.scopes);
    return candidate;
  }

  /** @throws UnknownScopeError */
  status(scope?: string): ClusterStatus {
    const { instance: current } = this.parts.context.node;
    const { leader } = this.scope(scope);
    const others = this.parts.membership.participants().map(({ instance }) => instance);
    const participants = others.includes(current) ? others : [current, ...others];
    return { current, leader: leader?.instance, participants };
  }

  /** Makes a node the next leader of a scope. @throws CannotLeadError, UnknownScopeError, StoreUnavailableError */
  async transferTo(node: string, scope?: string): Promise<void> {
    const candidate = this.scope(scope);
    if (await candidate.untilHandedOver(() => this.parts.handovers.transfer(candidate.scope, node))) return;
    const why =
      'this node goes on to lead, because another transfer followed, or in a grace after lost data. Try again later';
    throw new CannotLeadError(candidate.scope, node, why);
  }

  /** {@link status} of the default scope after each change. Replays the last one. Completes when this node closes. */
  get status$(): Observable<ClusterStatus> {
    return this.#status.pipe(distinctUntilChanged((one, other) => JSON.stringify(one) === JSON.stringify(other)));
  }

  /** Begins to take part in all scopes. Does not wait for the store. Idempotent. */
  initialize(): Promise<void> {
    this.#initialized ??= this.#initialize();
    return this.#initialized;
  }

  /** Ends all terms, after the work under them, and gives their permits back. */
  async close(): Promise<void> {
    await Promise.all(this.candidates.map((candidate) => candidate.close()));
    this.#subscriptions.unsubscribe();
    this.#status.complete();
  }

  readonly #tell = (): void => this.#status.next(this.status());

  async #initialize(): Promise<void> {
    const { context, join, declare } = this.parts;
    const { candidates } = this;
    const lookAll = () => candidates.forEach((candidate) => candidate.look());
    const contact = context.events.pipe(filter(({ type }) => type === 'store-lost' || type === 'store-back'));
    const forgo = (instance: string) => candidates.forEach((candidate) => void candidate.forgo(instance));
    const lookAt = (name: string) => candidates.find(({ semaphore }) => semaphore === name)?.look();
    this.#subscriptions.add(context.changes.subscribe(lookAt));
    this.#subscriptions.add(contact.subscribe(lookAll));
    this.#subscriptions.add(
      context.events.subscribe((event) => event.type === 'member-left' && forgo(event.member.instance)),
    );
    this.#subscriptions.add(merge(...candidates.map(({ changes }) => changes)).subscribe(this.#tell));
    await declare(this.definitions);
    await join();
    if (context.isClosing()) return;
    for (const candidate of candidates) candidate.start();
  }
}
