import { z } from 'zod';
import type { Parts, ScopeDetails } from '../../gatekeeper/index.js';
import { LEADER_PREFIX, onlyFields } from '../../core/decision/index.js';
import { StoreUnavailableError } from '../../core/store/index.js';
import { newestFirst } from '../../operate/activity/newest-first.js';
import {
  leaderSchema,
  leadersSchema,
  type LeadersOverview,
  type TermOverview,
} from '../../operate/insight/leader-answers.js';
import { readLeader, readLeaders, termsOf } from '../../operate/insight/index.js';
import type { Sees } from './caller.js';
import { name, reason } from './fields.js';
import { operation } from './operation.js';

/* The calls about leadership. */

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
