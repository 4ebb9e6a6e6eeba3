import type { Membership } from '../core/members/index.js';
import type { Context } from '../core/context/context.js';
import type { Candidate } from '../leadership/index.js';
import type { GroupRegistry } from './round/group-registry.js';
import { type ParticipantEntry, canDecide } from './round/registry-view.js';

/** Shortest time in ms between two looks of a node that does not decide. */
const SHORTEST_WAIT = 500;

/** The right to decide on the owners of one group. */
export interface Mandate {
  /** Differs between two uninterrupted times of deciding. */
  readonly id: string;
  /** Cluster time in ms at which it ends, unless it is confirmed. So a later one shows that it was. */
  readonly expiresAt: number;
}

/**
 * Finds out whether this node decides on the owners of one group: see {@link deciderOf}. The leader's mandate rests on its
 * permit, and that of its deputy on the own membership lease.
 */
export class MandateWatch {
  constructor(
    private readonly context: Pick<Context, 'node' | 'nodeClock'>,
    private readonly membership: Pick<Membership, 'look' | 'incarnation'>,
    private readonly candidate: Pick<Candidate, 'term' | 'recorded' | 'isConnected'>,
    private readonly registry: Pick<GroupRegistry, 'view' | 'isStale'>,
  ) {}

  /** This node's mandate, by what it knows now. Asks nothing. */
  get current(): Mandate | undefined {
    const { context, membership, candidate, registry } = this;
    const { term } = candidate;
    if (!candidate.isConnected || this.#decider !== context.node.instance) return undefined;
    if (term) return { id: `${term.scope} ${term.token}`, expiresAt: term.stored.expiresAt };
    const own = registry.view?.living.get(membership.incarnation ?? '');
    return own && { id: own.inc, expiresAt: own.expiresAt };
  }

  /**
   * {@link current}, after a look at the members if the node that decides may be over, or has changed.
   *
   * @throws StoreUnavailableError
   */
  async find(): Promise<Mandate | undefined> {
    const { registry, membership } = this;
    const isDue = this.#untilChange === 0 || (registry.isStale && this.#isNext);
    if (!this.current && isDue) await membership.look();
    return this.current;
  }

  /**
   * Whether this node will probably decide next: it leads and has not read its own entry yet, or it is the next one after
   * the node that decides, which may hand the decision on. Only such a node looks as soon as an entry changes, so that after
   * a shutdown not all nodes do.
   */
  get #isNext(): boolean {
    const { context, candidate, registry } = this;
    if (candidate.term) return true;
    const living = [...(registry.view?.living.values() ?? [])];
    const decider = this.#decider;
    const others = living.filter(({ instance }) => instance !== decider);
    return deciderOf(others, '') === context.node.instance;
  }

  /** Instance of the node that decides; undefined: no node leads, for example because an operator has paused that. */
  get #decider(): string | undefined {
    const leader = this.#leader;
    return leader && deciderOf(this.registry.view?.living.values() ?? [], leader);
  }

  /**
   * Instance of the leader. If it just crashed, its deputy goes on until another node leads, or an operator pauses that: the
   * permit of the crashed leader may outlast the pause.
   */
  get #leader(): string | undefined {
    const { term, recorded } = this.candidate;
    return (term?.stored ?? recorded)?.instance;
  }

  /** ms until {@link find} may be due; undefined: not before something changes. */
  get untilFind(): number | undefined {
    const until = this.#untilChange;
    return until === undefined ? undefined : Math.max(SHORTEST_WAIT, until);
  }

  /**
   * ms until the lease of the leader's deputy may be over. A leader that is over is replaced by the leadership. Members
   * that renew their leases in time are read with the heartbeats before that, so this costs no call.
   */
  get #untilChange(): number | undefined {
    const { context, registry } = this;
    const { view } = registry;
    const decider = this.#decider;
    if (!view || decider === undefined || decider === this.#leader) return undefined;
    return Math.max(0, view.readFrom + view.nextChangeIn - context.nodeClock.monotonic());
  }
}

/**
 * Instance of the node that decides on the owners of a group. All nodes find it by the same texts, and usually agree. Two
 * that decide at the same time only cost refused writes, because the compare-and-set of the root is the only commit.
 *
 * | the leader of all groups                        | decides                                           |
 * | ----------------------------------------------- | ------------------------------------------------- |
 * | is among the candidates                         | the leader                                        |
 * | is not, for example because it lacks the group  | its deputy: the candidate that runs longest       |
 * | is not, and the group has no living node        | the leader: its own entry may not be written yet  |
 *
 * The candidates are the first of these sets of living nodes that is not empty:
 *
 * 1. those that have read the resources, and have not handed the decision on in their lease;
 * 2. those without a problem: they have not read the resources yet, or one could decide after all;
 * 3. all: none can decide, so it stays with the leader, which tries again. The decision never goes round in circles.
 *
 * The node that runs longest has watched the members longest, so it knows best who is over, and a join changes nothing.
 * Nodes with the weight 0 come last: they may be shutting down.
 */
export function deciderOf(living: Iterable<ParticipantEntry>, leader: string): string {
  const all = [...living];
  const sets = [all.filter(canDecide), all.filter(({ problem }) => problem === undefined), all];
  const candidates = sets.find(({ length }) => length > 0) ?? [];
  if (candidates.some(({ instance }) => instance === leader)) return leader;
  const [first = leader] = candidates.toSorted(byService).map(({ instance }) => instance);
  return first;
}

function byService(one: ParticipantEntry, other: ParticipantEntry): number {
  const isIdle = ({ weight }: ParticipantEntry) => Number(weight === 0);
  return isIdle(one) - isIdle(other) || one.startedAt - other.startedAt || (one.instance < other.instance ? -1 : 1);
}
