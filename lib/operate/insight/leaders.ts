import type { MemberState } from '../../core/members/index.js';
import { type NodeIdentity, byName } from '../../core/context/node-identity.js';
import {
  LEADER_PREFIX,
  type Preference,
  type SemaphoreRecord,
  type StoredPermit,
  intendedDefinition,
  mismatchOf,
} from '../../core/decision/index.js';
import { formatDuration } from './format-duration.js';
import type { NotLeadingReason, KeptTerm, ScopeCandidate, ScopeOverview } from './leader-answers.js';
import { PATIENCE } from './scope-status.js';

/** Facts besides the record of a scope. */
export interface ScopeFacts {
  /** Cluster time in ms. */
  readonly now: number;
  /** ms */
  readonly clockTolerance: number;
  readonly members: readonly MemberState[];
}

export function scopeOverview(name: string, record: SemaphoreRecord | Error, facts: ScopeFacts): ScopeOverview {
  const base = { scope: name.slice(LEADER_PREFIX.length), semaphore: name };
  if (record instanceof Error) return { ...base, candidates: 0, problem: record.message };
  const { pause, definition, preference } = record;
  const leader = leaderIn(record, facts.now);
  const able = scopeCandidates(base.scope, record, facts).filter(({ reason }) => canLead(reason));
  const candidates = definition?.permits === 0 ? 0 : able.length;
  return {
    ...base,
    ...(leader ? termOf(leader) : faultOfVacancy(base.scope, record, candidates, facts)),
    ...(definition && { lease: definition.duration }),
    ...(pause && { pause }),
    ...(preference && preference.expiresAt > facts.now && { keptFor: keptTerm(preference) }),
    candidates,
  };
}

/** All living nodes in a scope, and those whose patterns keep them out, sorted by name. */
export function scopeCandidates(
  scope: string,
  record: SemaphoreRecord,
  { members, now }: ScopeFacts,
): readonly ScopeCandidate[] {
  const leader = leaderIn(record, now);
  const living: (NodeIdentity & Pick<MemberState, 'scopes'>)[] = members.filter(({ state }) => state === 'living');
  // A leader whose membership lapsed still leads while its permit lasts.
  const isListed = !leader || living.some(({ instance }) => instance === leader.instance);
  const nodes = isListed ? living : [...living, leader].toSorted(byName);
  return nodes.map((node) => {
    const { group, acquirer, instance } = node;
    const isLeader = instance === leader?.instance;
    return { group, acquirer, instance, ...(isLeader ? LEADS : whyNot(scope, node, { record, leader, now })) };
  });
}

const LEADS = { sentence: 'leads' };

type Why = Pick<ScopeCandidate, 'sentence'> & { readonly reason: NotLeadingReason };

function whyNot(
  scope: string,
  { instance, scopes, ...node }: NodeIdentity & Pick<MemberState, 'scopes'>,
  { record, leader, now }: { record: SemaphoreRecord; leader: StoredPermit | undefined; now: number },
): Why {
  const { definition, pause, preference } = record;
  const intended = intendedDefinition(record);
  if (scopes && !scopes.includes(scope)) return { reason: 'not-started', sentence: 'does not take part in this scope' };
  if (!definition || !intended) return { reason: 'no-definition', sentence: 'the definition of the scope was removed' };
  const mismatch = mismatchOf(intended, node);
  if (mismatch) {
    const pattern = `its ${mismatch} "${node[mismatch]}" does not match ${mismatch}Pattern "${intended[`${mismatch}Pattern`]}"`;
    return { reason: mismatch, sentence: pattern };
  }
  if (pause) return { reason: 'paused', sentence: `the scope is paused by ${pause.by}` };
  if (definition.permits === 0) return { reason: 'no-permit', sentence: 'the definition allows no leader (0 permits)' };
  if (preference && preference.expiresAt > now && isKeptFrom(preference, instance)) {
    return {
      reason: 'other-preferred',
      sentence: preference.isExcluded ? 'was asked to step down' : 'lets another node go first',
    };
  }
  if (leader) return { reason: 'no-permit', sentence: `waits while ${leader.acquirer} leads` };
  return { reason: 'waiting', sentence: 'no node leads, and this node may take the leadership' };
}

function isKeptFrom({ instance, isExcluded }: Preference, node: string): boolean {
  return (instance === node) === (isExcluded === true);
}

function canLead(reason: NotLeadingReason | undefined): boolean {
  return reason === undefined || reason === 'waiting' || reason === 'no-permit' || reason === 'other-preferred';
}

function leaderIn({ permits }: SemaphoreRecord, now: number): StoredPermit | undefined {
  return permits.find(({ expiresAt }) => expiresAt > now);
}

function termOf({ group, acquirer, instance, token: term, grantedAt: since, expiresAt }: StoredPermit) {
  return { leader: { group, acquirer, instance }, term, since, expiresAt };
}

function keptTerm({ instance, isExcluded, expiresAt: until }: Preference): KeptTerm {
  return { instance, isExcluded: isExcluded === true, until };
}

/**
 * Counts from the end of the last permit in the record. Without one, from the last write: it dropped the permit, or came
 * later.
 */
function faultOfVacancy(
  scope: string,
  record: SemaphoreRecord,
  candidates: number,
  { now, clockTolerance }: ScopeFacts,
): Pick<ScopeOverview, 'fault'> {
  const since = Math.max(
    ...record.permits.map(({ expiresAt }) => expiresAt),
    record.permits.length > 0 ? 0 : record.at,
  );
  const lease = record.definition?.duration ?? 0;
  if (now - since <= lease + clockTolerance + PATIENCE) return {};
  const sentence = `scope "${scope}" has had no leader for ${formatDuration(now - since)}: ${vacancy(record, candidates)}`;
  return { fault: { code: 'no-leader', since, sentence } };
}

function vacancy({ definition, pause }: SemaphoreRecord, candidates: number): string {
  if (!definition) return 'its definition was removed, reset it';
  if (pause) return `it is paused by ${pause.by}`;
  if (definition.permits === 0) return 'its definition allows no leader (0 permits)';
  if (candidates === 0) return 'no living node takes part in it and matches its patterns';
  return 'nodes could lead, look at their logs';
}
