import type { MemberState } from '../../core/members/index.js';
import { type NodeIdentity, byName } from '../../core/context/node-identity.js';
import {
  LEADER_PREFIX,
  type Pause,
  type Preference,
  type SemaphoreRecord,
  type StoredPermit,
  intendedDefinition,
  mismatchOf,
} from '../../core/decision/index.js';
import { formatDuration } from './format-duration.js';
import { type NotLeadingReason, PATIENCE } from './scope-status.js';

/** A scope of leadership, as the records in the store show it. */
export interface ScopeOverview {
  /** Name of the scope. */
  readonly scope: string;
  /** Its semaphore: `leader:<scope>`. */
  readonly semaphore: string;
  /** The leader; absent if there is none. */
  readonly leader?: NodeIdentity;
  /** Fencing token of the leader's term. */
  readonly term?: number;
  /** Cluster time in ms since 1970 at which the leader's term began. */
  readonly since?: number;
  /** Cluster time in ms at which the leader's permit ends, unless it is refreshed. */
  readonly expiresAt?: number;
  /** Duration of a leader's permit in ms; absent if the definition was removed. */
  readonly lease?: number;
  /** The pause of the scope; absent if it is not paused. */
  readonly pause?: Pause;
  /** For whom the next term is kept, after a transfer or a step-down; absent if for all. */
  readonly keptFor?: KeptTerm;
  /** Present if the scope has had no leader for too long. */
  readonly fault?: NoLeaderFault;
  /** Number of living nodes that could lead now. */
  readonly candidates: number;
  /** Why the record can't be read; absent if it can. */
  readonly problem?: string;
}

/** The next term of a scope is kept for one node, or for all nodes but one. */
export interface KeptTerm {
  readonly instance: string;
  /** True if the next term is for all nodes but that one. */
  readonly isExcluded: boolean;
  /** Cluster time in ms after which any node can lead. */
  readonly until: number;
}

/** A scope has had no leader for longer than lease, `clockTolerance` and 5 s. */
export interface NoLeaderFault {
  readonly code: 'no-leader';
  /** Cluster time in ms since which there has been no leader. */
  readonly since: number;
  readonly sentence: string;
}

/** Why a living node leads a scope, or does not. */
export interface ScopeCandidate extends NodeIdentity {
  /** Absent if it leads. */
  readonly reason?: NotLeadingReason;
  /** The same in a sentence, for people. */
  readonly sentence: string;
}

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
