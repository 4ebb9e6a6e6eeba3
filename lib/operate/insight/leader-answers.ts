import { z } from 'zod';
import { auditActionSchema } from '../../core/context/answers.js';
import { TERM_ENDS, type TermEnd } from '../../core/context/events.js';
import { nodeIdentitySchema } from '../../core/context/node-identity.js';
import { type Pause, pauseSchema } from '../../core/decision/answers.js';
import { list, named, time, whole } from '../../core/decision/answer-values.js';
import { DENIAL_REASONS, type DenialReason } from '../../core/decision/denial.js';
import { type MemberState, memberSchema } from '../../core/members/member-state.js';

/*
 * Leaders and members. Import only types from here in code that an application loads. A field with a docstring
 * besides its description says more there than the document of the API.
 */

const keptSchema = z.object({
  instance: z.string().meta({ description: 'the process that it is kept for, or that it is kept from' }),
  isExcluded: z.boolean().meta({ description: 'the next term is for all nodes but that one' }),
  /** Cluster time in ms after which any node can lead. */
  until: time,
});

/** The next term of a scope is kept for one node, or for all nodes but one. */
export interface KeptTerm extends Readonly<z.output<typeof keptSchema>> {}

const vacancySchema = z.object({
  code: z.literal('no-leader'),
  /** Cluster time in ms since which there has been no leader. */
  since: time,
  sentence: z.string(),
});

/** A scope has had no leader for longer than lease, `clockTolerance` and 5 s. */
export interface NoLeaderFault extends Readonly<z.output<typeof vacancySchema>> {}

const scopeSchema = z
  .object({
    scope: z.string().meta({ description: 'name of the scope' }),
    semaphore: z.string().meta({ description: 'its semaphore: `leader:<scope>`' }),
    leader: nodeIdentitySchema.optional().meta({ description: 'absent if no node leads' }),
    term: whole.optional().meta({ description: "fencing token of the leader's term" }),
    /** Cluster time in ms since 1970 at which the leader's term began. */
    since: time.optional(),
    /** Cluster time in ms at which the leader's permit ends, unless it is refreshed. */
    expiresAt: time.optional().meta({ description: "end of the leader's permit, unless it is refreshed" }),
    /** Duration of a leader's permit in ms; absent if the definition was removed. */
    lease: whole.optional().meta({ description: "ms that the leader's permit lasts" }),
    pause: named<Pause>(pauseSchema)
      .optional()
      .meta({ description: 'the pause of the scope; absent if it is not paused' }),
    /** For whom the next term is kept, after a transfer or a step-down; absent if for all. */
    keptFor: named<KeptTerm>(keptSchema)
      .optional()
      .meta({ id: 'KeptTerm', description: 'for whom the next term is kept, after a transfer or a step-down' }),
    fault: named<NoLeaderFault>(vacancySchema)
      .optional()
      .meta({ id: 'NoLeaderFault', description: 'present if the scope has had no leader for too long' }),
    candidates: whole.meta({ description: 'number of living nodes that could lead now' }),
    problem: z.string().optional().meta({ description: "why the record can't be read; absent if it can" }),
  })
  .meta({ id: 'Scope' });

/** A scope of leadership, as the records in the store show it. */
export interface ScopeOverview extends Readonly<z.output<typeof scopeSchema>> {}

/**
 * Why a node does not lead: a denial of its permit (`no-permit`: another node leads), `not-started`, `resigned` (the
 * others go first for a moment), or `waiting` (no node leads, and this node asks for it).
 */
export type NotLeadingReason = DenialReason | 'not-started' | 'resigned' | 'waiting';

const candidateSchema = z
  .object({
    group: z.string().meta({ description: 'zone or environment' }),
    acquirer: z.string().meta({ description: 'name of the node' }),
    instance: z.string().meta({ description: 'random, new at each start of the process' }),
    reason: named<NotLeadingReason>(z.enum([...DENIAL_REASONS, 'not-started', 'resigned', 'waiting']))
      .optional()
      .meta({ description: 'why the node does not lead; absent if it leads' }),
    /** The same in a sentence, for people. */
    sentence: z.string().meta({ description: 'why it leads, or does not, for people' }),
  })
  .meta({ id: 'ScopeCandidate' });

/** Why a living node leads a scope, or does not. */
export interface ScopeCandidate extends Readonly<z.output<typeof candidateSchema>> {}

const termSchema = z
  .object({
    node: nodeIdentitySchema.meta({ description: 'the node that led' }),
    token: whole.meta({ description: 'fencing token' }),
    /** Cluster time in ms since 1970 at which it began. */
    from: time,
    /** The time at which it ended; absent if it goes on. */
    to: time.optional().meta({ description: 'absent if the term goes on' }),
    /** Why it ended; absent if it goes on, or if the node did not say. */
    ended: named<TermEnd>(z.enum(TERM_ENDS)).optional().meta({ description: 'why it ended' }),
    /** The operator's change that ended it; absent if there was none. */
    change: z
      .object({ action: auditActionSchema, by: z.string(), reason: z.string().optional() })
      .optional()
      .meta({ id: 'TermChange', description: "the operator's change that ended it" }),
  })
  .meta({ id: 'Term' });

/** A term of leadership, from the history. */
export interface TermOverview extends Readonly<z.output<typeof termSchema>> {}

const members = {
  /** The nodes of the membership, sorted by group and acquirer. Those that left or lapsed stay for a moment. */
  members: list<MemberState>(memberSchema).meta({ description: 'the nodes of the membership' }),
  problems: list(z.string()).meta({ description: 'why some nodes may be missing, for people' }),
};

export const leadersSchema = z
  .object({
    now: time,
    scopes: list<ScopeOverview>(scopeSchema).meta({ description: 'sorted by name' }),
    ...members,
  })
  .meta({ id: 'LeaderList' });

/** All scopes of leadership with their leaders, and all nodes of the membership. */
export interface LeadersOverview extends Readonly<z.output<typeof leadersSchema>> {}

export const leaderSchema = z
  .object({
    now: time,
    scope: named<ScopeOverview>(scopeSchema),
    candidates: list<ScopeCandidate>(candidateSchema).meta({ description: 'why each living node leads, or does not' }),
    ...members,
    terms: list<TermOverview>(termSchema)
      .optional()
      .meta({ description: 'newest first; absent if the history can not be read now' }),
  })
  .meta({ id: 'LeaderDetails' });
const detailsSchema = leaderSchema.omit({ terms: true });

/** One scope with the reason of each node, and the nodes of the membership. */
export interface ScopeDetails extends Readonly<z.output<typeof detailsSchema>> {}
