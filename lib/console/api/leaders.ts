import { z } from 'zod';
import type {
  LeadersOverview,
  MemberState,
  NodeMetadata,
  Parts,
  ScopeCandidate,
  ScopeDetails,
  ScopeOverview,
  TermOverview,
} from '../../gatekeeper/index.js';
import { DENIAL_REASONS, LEADER_PREFIX, onlyFields } from '../../core/decision/index.js';
import { TERM_ENDS } from '../../core/context/events.js';
import { StoreUnavailableError } from '../../core/store/index.js';
import { newestFirst } from '../../operate/activity/newest-first.js';
import { readLeader, readLeaders, termsOf } from '../../operate/insight/index.js';
import type { Sees } from './caller.js';
import { auditActionSchema, list, nodeIdentitySchema, pauseSchema, time, whole } from './entities.js';
import { name, reason } from './fields.js';
import { operation } from './operation.js';

/* The calls about leadership. If a schema differs from the gatekeeper's own type, this file doesn't compile. */

const identityShape = { group: z.string(), acquirer: z.string(), instance: z.string() };

const memberSchema: z.ZodType<MemberState> = z
  .object({
    ...identityShape,
    id: z.string().meta({ description: 'the same as instance' }),
    host: z.string(),
    version: z.string().optional(),
    metadata: z.custom<NodeMetadata>().meta({
      id: 'NodeMetadata',
      type: 'object',
      additionalProperties: true,
      description: 'as the node publishes it',
    }),
    startedAt: time,
    state: z.enum(['living', 'lapsed', 'left']).meta({
      description: 'lapsed: it did not renew its membership lease in time; left: it closed',
    }),
    expiresAt: time,
    scopes: list(z.string())
      .optional()
      .meta({ description: 'scopes in which it takes part; absent if its version does not say it' }),
  })
  .meta({ id: 'Member' });

const scopeSchema: z.ZodType<ScopeOverview> = z
  .object({
    scope: z.string(),
    semaphore: z.string(),
    leader: nodeIdentitySchema.optional().meta({ description: 'absent if no node leads' }),
    term: whole.optional().meta({ description: "fencing token of the leader's term" }),
    since: time.optional(),
    expiresAt: time.optional().meta({ description: "end of the leader's permit, unless it is refreshed" }),
    lease: whole.optional().meta({ description: "ms that the leader's permit lasts" }),
    pause: pauseSchema.optional(),
    keptFor: z
      .object({
        instance: z.string(),
        isExcluded: z.boolean().meta({ description: 'the next term is for all nodes but that one' }),
        until: time,
      })
      .optional()
      .meta({ id: 'KeptTerm', description: 'for whom the next term is kept, after a transfer or a step-down' }),
    fault: z
      .object({ code: z.literal('no-leader'), since: time, sentence: z.string() })
      .optional()
      .meta({ id: 'NoLeaderFault', description: 'present if the scope has had no leader for too long' }),
    candidates: whole.meta({ description: 'number of living nodes that could lead now' }),
    problem: z.string().optional(),
  })
  .meta({ id: 'Scope' });

const candidateSchema: z.ZodType<ScopeCandidate> = z
  .object({
    ...identityShape,
    reason: z
      .enum([...DENIAL_REASONS, 'not-started', 'resigned', 'waiting'])
      .optional()
      .meta({ description: 'why the node does not lead; absent if it leads' }),
    sentence: z.string(),
  })
  .meta({ id: 'ScopeCandidate' });

const termSchema: z.ZodType<TermOverview> = z
  .object({
    node: nodeIdentitySchema,
    token: whole,
    from: time,
    to: time.optional().meta({ description: 'absent if the term goes on' }),
    ended: z.enum(TERM_ENDS).optional().meta({ description: 'why it ended' }),
    change: z
      .object({ action: auditActionSchema, by: z.string(), reason: z.string().optional() })
      .optional()
      .meta({ id: 'TermChange', description: "the operator's change that ended it" }),
  })
  .meta({ id: 'Term' });

const members = {
  members: list(memberSchema).meta({ description: 'the nodes of the membership' }),
  problems: list(z.string()).meta({ description: 'why some nodes may be missing, for people' }),
};

const leadersSchema: z.ZodType<LeadersOverview> = z
  .object({ now: time, scopes: list(scopeSchema), ...members })
  .meta({ id: 'LeaderList' });

const leaderSchema = z
  .object({
    now: time,
    scope: scopeSchema,
    candidates: list(candidateSchema).meta({ description: 'why each living node leads, or does not' }),
    ...members,
    terms: list(termSchema).optional().meta({ description: 'newest first; absent if the history can not be read now' }),
  })
  .meta({ id: 'LeaderDetails' });

/** A scope with its terms. */
export type LeaderAnswer = z.output<typeof leaderSchema>;

const askedSchema = z
  .object({
    asked: z.boolean().meta({
      description: 'Whether the leader was asked to hand over. false: no node leads, or the wanted node leads already',
    }),
  })
  .meta({ id: 'Asked' });

const scopeParams = onlyFields({ scope: name });
const change = { reason: reason.optional() };
const leader = 'api/leaders/:scope';
/** Number of terms of a scope in an answer. */
const MOST_TERMS = 200;

export const LEADER_OPERATIONS = {
  leaders: operation({
    operationId: 'listLeaders',
    method: 'GET',
    path: 'api/leaders',
    summary: 'The scopes of leadership with their leaders, and the nodes of the membership',
    description:
      '`scopes` has the leader, its `term` (the fencing token), `since`, `expiresAt` of its permit, `fault` (`no-leader`) and ' +
      'the number of `candidates`. `members` has the nodes with state and metadata.',
    role: 'view',
    answer: leadersSchema,
    run: async (parts, _input, { sees }) => {
      const leaders = await readLeaders(parts);
      const scopes = leaders.scopes.filter(({ semaphore }) => !sees || sees(semaphore));
      return { ...leaders, scopes, members: membersFor(leaders, sees) };
    },
  }),
  leader: operation({
    operationId: 'getLeader',
    method: 'GET',
    path: leader,
    summary: 'One scope: who leads, why the others do not, and its terms',
    description:
      '`candidates` has why each node leads, or does not. `terms` has the last ones, why each ended, and the operator who ' +
      'ended it.',
    role: 'view',
    params: scopeParams,
    answer: leaderSchema,
    problems: ['unknown-semaphore'],
    run: async (parts, { params: { scope } }, { sees }) => {
      const details = await readLeader(parts, scope);
      const terms = await termsIn(parts, details);
      return { ...details, members: membersFor(details, sees), ...(terms && { terms }) };
    },
  }),
  stepDown: operation({
    operationId: 'stepDown',
    method: 'POST',
    path: `${leader}/step-down`,
    summary: 'Ask the leader to step down, after the work under its term; others go first for 6 s',
    role: 'operate',
    writes: true,
    params: scopeParams,
    body: onlyFields(change).meta({ id: 'StepDownRequest' }),
    answer: askedSchema,
    problems: ['unknown-semaphore'],
    run: async ({ handovers }, { params: { scope }, body }, { user: by }) => ({
      asked: await handovers.stepDown(scope, { ...body, by }),
    }),
  }),
  transfer: operation({
    operationId: 'transferLeadership',
    method: 'POST',
    path: `${leader}/transfer`,
    summary: 'Make a node the next leader; the present one steps down after the work under its term',
    description: '`node` is an `instance` of `members`.',
    role: 'operate',
    writes: true,
    params: scopeParams,
    body: onlyFields({
      node: name.meta({ ...name.meta(), description: 'instance of the node, as in members' }),
      ...change,
    }).meta({ id: 'TransferRequest' }),
    answer: askedSchema,
    problems: ['unknown-semaphore', 'cannot-lead'],
    run: async ({ handovers }, { params: { scope }, body: { node, ...body } }, { user: by }) => ({
      asked: await handovers.transfer(scope, node, { ...body, by }),
    }),
  }),
};

/** @returns undefined if the journals can't be read now */
async function termsIn({ runHistory, audit }: Parts, { scope }: ScopeDetails): Promise<TermOverview[] | undefined> {
  const query = { semaphore: LEADER_PREFIX + scope.scope, limit: MOST_TERMS };
  try {
    const [runs, changes] = await Promise.all([
      newestFirst(query, (limit) => runHistory.read(limit)),
      newestFirst(query, (limit) => audit.read(limit)),
    ]);
    return termsOf(scope, runs, changes);
  } catch (error) {
    if (error instanceof StoreUnavailableError) return undefined;
    throw error;
  }
}

/** The members, each with the scopes that the caller may see. */
function membersFor({ members }: Pick<LeadersOverview, 'members'>, sees: Sees): LeadersOverview['members'] {
  if (!sees) return members;
  return members.map(({ scopes, ...member }) => ({
    ...member,
    ...(scopes && { scopes: scopes.filter((scope) => sees(LEADER_PREFIX + scope)) }),
  }));
}
