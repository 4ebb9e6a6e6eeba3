import { type MembershipSnapshot, readMembership } from '../../core/members/index.js';
import { type Pieces, inSlices } from '../../core/async/slices.js';
import type { Context } from '../../core/context/context.js';
import { LEADER_PREFIX, compileInPieces, intendedDefinition } from '../../core/decision/index.js';
import { UnknownSemaphoreError } from '../../core/permits/permits.errors.js';
import type { SemaphoreDirectory } from '../../core/permits/semaphore-directory.js';
import type { Listed } from '../../core/cell/semaphore-listing.js';
import type { ScopeOverview, LeadersOverview, ScopeDetails } from './leader-answers.js';
import { type ScopeFacts, scopeCandidates, scopeOverview } from './leaders.js';

interface LeadersParts {
  readonly context: Context;
  readonly directory: SemaphoreDirectory;
}

/**
 * Reads all scopes and all members from the store. Any process can do that; it need not take part. There is no last known
 * state: without the store the result is an error, never an empty list.
 *
 * @throws StoreUnavailableError
 */
export async function readLeaders({ context, directory }: LeadersParts): Promise<LeadersOverview> {
  const [look, records] = await Promise.all([readMembership(context), directory.listing.ownWith(LEADER_PREFIX)]);
  const facts = factsOf(context, look);
  const scopes = await inSlices(scopesInPieces(records, facts), context.nodeClock);
  return { now: facts.now, scopes, ...look };
}

/** Reads one scope. @throws StoreUnavailableError, UnknownSemaphoreError if there is no such scope */
export async function readLeader({ context, directory }: LeadersParts, scope: string): Promise<ScopeDetails> {
  const name = LEADER_PREFIX + scope;
  const [look, records] = await Promise.all([readMembership(context), directory.listing.one(name)]);
  const record = records.get(name);
  if (!record) throw new UnknownSemaphoreError(name);
  const facts = factsOf(context, look);
  const [overview] = await inSlices(scopesInPieces(records, facts), context.nodeClock);
  const candidates = record instanceof Error ? [] : scopeCandidates(scope, record, facts);
  return { now: facts.now, scope: overview!, candidates, ...look };
}

function factsOf({ clusterClock, timing }: Context, { members }: MembershipSnapshot): ScopeFacts {
  return { now: clusterClock.earliest(), clockTolerance: timing.clockTolerance, members };
}

function* scopesInPieces(records: ReadonlyMap<string, Listed>, facts: ScopeFacts): Pieces<ScopeOverview[]> {
  const scopes: ScopeOverview[] = [];
  for (const [name, record] of records) {
    const intended = record instanceof Error ? undefined : intendedDefinition(record);
    if (intended) yield* compileInPieces([intended.groupPattern, intended.acquirerPattern]);
    scopes.push(scopeOverview(name, record, facts));
    yield Math.max(1, facts.members.length);
  }
  return scopes.toSorted((one, other) => (one.scope < other.scope ? -1 : 1));
}
