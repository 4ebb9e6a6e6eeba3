import type { MembershipSnapshot } from '../core/members/index.js';
import { LEADER_PREFIX, type SemaphoreRecord, isKeptFrom, mismatchOf } from '../core/decision/index.js';
import type { NodeIdentity } from '../core/context/node-identity.js';
import type { ChangeOptions } from '../core/context/change-options.js';
import type { PreferenceRequest, Preferences } from '../core/permits/preferences.js';
import { CannotLeadError } from './leadership.errors.js';
import { COOLDOWN } from './cooldown.js';

/**
 * Handovers of any scope by operators, from any process that can reach the store. They write only a preference: the
 * leader notices it, ends its term in good order, and gives the permit back. So the next leader waits for the work of the
 * former one, which a revoke would not do. A leader that does not react keeps its permit until it expires.
 */
export class Handovers {
  /**
   * @param readMembers reads the membership from the store
   * @param grace ms for which the end of a term waits for the work under it, as this node's options say
   */
  constructor(
    private readonly preferences: Preferences,
    private readonly readMembers: () => Promise<MembershipSnapshot>,
    private readonly grace: number,
  ) {}

  /**
   * Asks the leader of a scope to step down. Until another node leads, for 6 s after the permit went back, the former
   * leader does not take it again.
   *
   * @returns false if no node leads
   * @throws UnknownSemaphoreError if there is no such scope
   * @throws StoreUnavailableError (NoQuorumError) or UnknownOutcomeError if the store gives no clear answer
   */
  stepDown(scope: string, options?: ChangeOptions): Promise<boolean> {
    const request = this.#request((_, leader) => leader && { instance: leader.instance, isExcluded: true });
    return this.preferences.prefer(LEADER_PREFIX + scope, { action: 'step-down' }, request, options);
  }

  /**
   * Makes a node the next leader of a scope. If a node leads now, it steps down.
   *
   * @param instance of the node
   * @returns false if that node leads already
   * @throws CannotLeadError if the node is no living participant of the scope, or its patterns do not match it
   * @throws UnknownSemaphoreError if there is no such scope
   * @throws StoreUnavailableError (NoQuorumError) or UnknownOutcomeError if the store gives no clear answer
   */
  async transfer(scope: string, instance: string, options?: ChangeOptions): Promise<boolean> {
    const cannot = (why: string) => new CannotLeadError(scope, instance, why);
    const { members } = await this.readMembers();
    const node = members.find((member) => member.instance === instance && member.state === 'living');
    if (!node) throw cannot('it is no living participant');
    if (!(node.scopes?.includes(scope) ?? true)) throw cannot('it does not take part in this scope');
    const request = this.#request((record, leader, kept) => {
      const obstacle = obstacleOf(node, record);
      if (obstacle) throw cannot(obstacle);
      // A leader for which the next term is not kept steps down just now.
      const goesOn = leader?.instance === instance && !(kept && isKeptFrom(kept, instance));
      return goesOn ? undefined : { instance };
    });
    const { group, acquirer } = node;
    const kind = { action: 'transfer', target: { group, acquirer, instance } } as const;
    return this.preferences.prefer(LEADER_PREFIX + scope, kind, request, options);
  }

  /** The leader ends its term first. Then only the next leader may take the permit, for as long as others rest. */
  #request(whom: PreferenceRequest['whom']): PreferenceRequest {
    return { whom, duration: this.grace + COOLDOWN };
  }
}

/** Why the definition of a scope does not let a node lead, in a sentence. */
function obstacleOf(node: NodeIdentity, { definition, pause }: SemaphoreRecord) {
  const mismatch = definition && mismatchOf(definition, node);
  if (!mismatch) return undefined;
  return pause ? 'the scope is paused' : `its ${mismatch} does not match the ${mismatch}Pattern`;
}
