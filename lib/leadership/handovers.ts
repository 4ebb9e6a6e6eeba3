import type { Audit, MemberLook } from '../activity/index.js';
import type { AuditEntry } from '../context/audit-entry.js';
import type { Context } from '../context/context.js';
import type { NodeIdentity } from '../context/node-identity.js';
import {
  LEADER_PREFIX,
  type Preference,
  type SemaphoreRecord,
  type StoredPermit,
  mismatchOf,
  prefer,
} from '../decision/index.js';
import { type ChangeOptions, authorOf, parseChangeOptions } from '../definitions/change-options.js';
import { UnknownSemaphoreError } from '../definitions/definitions.errors.js';
import type { SemaphoreClient } from '../records/semaphore-records.js';
import { CannotLeadError } from './leadership.errors.js';
import { REST } from './rest.js';

type Visit = <T>(name: string, work: (recordClient: SemaphoreClient) => Promise<T>) => Promise<T>;

interface HandoverParts {
  readonly context: Context;
  readonly audit: Audit;
  /** Runs work with the record client of a name. */
  readonly visit: Visit;
  /** Reads the membership from the store. */
  readonly members: () => Promise<MemberLook>;
  /** ms for which the end of a term waits for the work under it, as this node's options say. */
  readonly grace: number;
}

/** A kind of handover. */
interface Handover {
  readonly action: 'step-down' | 'transfer';
  readonly target?: AuditEntry['target'];
  /** Whom the next term is kept for; undefined if nothing has to change. */
  readonly whom: (leader: StoredPermit | undefined) => Pick<Preference, 'instance' | 'isExcluded'> | undefined;
}

/**
 * Handovers of any scope by operators, from any process that can reach the store. They write only a preference: the
 * leader notices it, ends its term in good order, and gives the permit back. So the next leader waits for the work of the
 * former one, which a revoke would not do. A leader that does not react keeps its permit until it expires.
 */
export class Handovers {
  constructor(private readonly parts: HandoverParts) {}

  /**
   * Asks the leader of a scope to step down. Until another node leads, for 6 s after the permit went back, the former
   * leader does not take it again.
   *
   * @returns false if no node leads
   * @throws UnknownSemaphoreError if there is no such scope
   * @throws StoreUnavailableError (NoQuorumError) or UnknownOutcomeError if the store gives no clear answer
   */
  stepDown(scope: string, options?: ChangeOptions): Promise<boolean> {
    const whom: Handover['whom'] = (leader) => leader && { instance: leader.instance, isExcluded: true };
    return this.#hand(scope, options, { action: 'step-down', whom });
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
    const { members } = await this.parts.members();
    const target = members.find((member) => member.instance === instance && member.state === 'living');
    const cannot = (why: string) => new CannotLeadError(scope, instance, why);
    if (!target) throw cannot('it is no living participant');
    if (!(target.scopes?.includes(scope) ?? true)) throw cannot('it does not take part in this scope');
    const { group, acquirer } = target;
    const check = (record: SemaphoreRecord) => {
      const obstacle = obstacleOf(target, record);
      if (obstacle) throw cannot(obstacle);
    };
    const whom: Handover['whom'] = (leader) => (leader?.instance === instance ? undefined : { instance });
    return this.#hand(scope, options, { action: 'transfer', target: { group, acquirer, instance }, whom }, check);
  }

  #hand(
    scope: string,
    options: ChangeOptions | undefined,
    { action, target, whom }: Handover,
    check: (record: SemaphoreRecord) => void = () => undefined,
  ): Promise<boolean> {
    const { context, audit, visit, grace } = this.parts;
    const semaphore = LEADER_PREFIX + scope;
    const author = authorOf(parseChangeOptions(semaphore, options), context.node);
    const id = context.random.id();
    const duration = grace + REST;
    return visit(semaphore, (client) =>
      client.transact<boolean>((record, view, nonce) => {
        if (!record?.definition) throw new UnknownSemaphoreError(semaphore);
        check(record);
        const leader = record.permits.find((permit) => !view.isExpired(permit));
        const chosen = whom(leader);
        if (!chosen) return { result: false };
        const preference = { id, ...chosen, expiresAt: view.now + duration, duration };
        const done = () => {
          audit.note({ action, semaphore, ...author, ...(leader && { permit: leader }), ...(target && { target }) });
          return true;
        };
        const isDoneIn = (later: SemaphoreRecord | undefined) => later?.preference?.id === id;
        return { write: prefer(record, preference, view, nonce), done, isDoneIn };
      }),
    );
  }
}

/** Why the definition of a scope does not let a node lead, in a sentence. */
function obstacleOf(node: NodeIdentity, { definition, pause }: SemaphoreRecord) {
  const mismatch = definition && mismatchOf(definition, node);
  if (!mismatch) return undefined;
  return pause ? 'the scope is paused' : `its ${mismatch} does not match the ${mismatch}Pattern`;
}
