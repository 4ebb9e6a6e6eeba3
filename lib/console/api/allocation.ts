import { z } from 'zod';
import {
  type GroupNode,
  type OwnedBy,
  allocationPlanSchema,
  groupNodeSchema,
  leftText,
  ownedBySchema,
  setInDoubtSchema,
} from '../../allocation/answers.js';
import type { AllocationGroup, GroupOverview } from '../../allocation/index.js';
import { pastMovesSchema } from '../../allocation/moves/move-answers.js';
import { isUnreadable } from '../../core/cell/known-record.js';
import type { AuditAction } from '../../core/context/audit-actions.js';
import { timeOf } from '../../core/context/context.js';
import { omitUndefined, onlyFields } from '../../core/decision/index.js';
import { UnknownOutcomeError } from '../../core/store/index.js';
import type { Parts } from '../../gatekeeper/index.js';
import { type Caller, expectSeen } from './caller.js';
import { list, time, whole } from '../../core/decision/answer-values.js';
import { limitText, name, reason, text } from './fields.js';
import { type Operation, operation } from './operation.js';

/* The calls about allocation. */

/** Maximum number of resources or moves in an answer, and the number without a limit in the query. */
const MOST_SHOWN = 10_000;
const USUAL = 1000;
const LONGEST_ID = 500;
/** Maximum number of changes in an answer, and the number without a limit in the query. */
const MOST_CHANGES = 1000;
const USUAL_CHANGES = 100;

const recovering = z.boolean().meta({
  description: 'the owner map is new, or was lost: nothing is granted until every member has confirmed it',
});
const faults = list(z.string()).meta({
  description: 'faults and warnings as this node knows them; the leader knows most',
});

const summarySchema = z
  .object({
    name: z.string(),
    isRecovering: recovering,
    resources: whole.optional(),
    unowned: whole.optional().meta({ description: 'resources without an owner' }),
    moving: whole.optional().meta({ description: 'resources that a former owner has not given back yet' }),
    nodes: whole.optional(),
    faults,
  })
  .meta({
    id: 'AllocationGroup',
    description: 'The numbers are absent if the owner map can not be read; then a fault says why',
  });

/** A group with the numbers of its resources and nodes. */
export type GroupSummary = z.output<typeof summarySchema>;

const pinShape = { resource: z.string(), node: z.string() };

const groupSchema = z
  .object({
    now: time,
    name: z.string(),
    isRecovering: recovering,
    total: whole.meta({ description: 'number of all resources; the list may be shorter because of the limit' }),
    unowned: whole.meta({ description: 'number of all resources without an owner' }),
    resources: list<OwnedBy>(ownedBySchema).meta({ description: 'those without an owner first, then by id' }),
    nodes: list<GroupNode>(groupNodeSchema),
    pins: list(z.object(pinShape).meta({ id: 'Pin' })),
    drained: list(z.string()),
    faults,
    doubt: setInDoubtSchema.optional(),
  })
  .meta({ id: 'AllocationGroupDetails' });

export type GroupAnswer = z.output<typeof groupSchema>;

const movesSchema = z.object({ now: time, ...pastMovesSchema.shape }).meta({ id: 'PastMoves' });

export type MovesAnswer = z.output<typeof movesSchema>;

/** A plan whose list of moves may be cut. */
const planSchema = z
  .object({
    total: whole.meta({ description: `number of all moves; the list has the first ${USUAL}` }),
    ...allocationPlanSchema.shape,
  })
  .meta({ id: 'AllocationPlan' });

export type PlanAnswer = z.output<typeof planSchema>;

const group = 'api/allocation/groups/:group';
const params = onlyFields({ group: name });
const resource = text(LONGEST_ID).min(1, { error: 'is empty' });
const change = { reason: reason.optional() };
const doneSchema = z
  .object({
    done: z.boolean().meta({
      description: 'false: nothing was changed, because the orders are as wanted already, or no set is in doubt',
    }),
  })
  .meta({ id: 'Done' });
const few = <T extends z.ZodType>(schema: T) => z.array(schema).max(1000, { error: 'has more than 1000 entries' });

/** Name of a group in the audit log, in events, and for tokens that are limited to some names. */
const PREFIX = 'allocation:';

interface Order {
  readonly resource?: string | undefined;
  readonly node?: string | undefined;
  readonly left?: number | undefined;
}

/**
 * A change of the orders of a group, which operators may make.
 *
 * @param change of the group, with what the audit log shall say of it; nothing if there is nothing to change
 */
const order = <Body extends z.ZodObject>(
  { verb, ...described }: Pick<Operation, 'operationId' | 'summary' | 'description'> & { readonly verb: AuditAction },
  body: Body,
  change: (group: AllocationGroup, body: z.output<Body>) => Promise<Ordered | undefined>,
) =>
  operation({
    ...described,
    method: 'POST',
    path: `${group}/${verb}`,
    role: 'operate',
    writes: true,
    params,
    body,
    answer: doneSchema,
    problems: ['unknown-group'],
    run: async (parts, { params: { group: name }, body: sent }, caller) => {
      const ordered = await change(groupOf(parts, name, caller), sent as z.output<Body>);
      if (!ordered) return { done: false };
      const { reason: why } = sent as { readonly reason?: string | undefined };
      const entry = {
        action: verb,
        semaphore: PREFIX + name,
        by: caller.user,
        ...omitUndefined({ reason: why }),
        order: omitUndefined(ordered.order),
      };
      const done = await ordered.make().catch((error: unknown) => {
        if (error instanceof UnknownOutcomeError) parts.audit.note({ ...entry, outcome: 'unknown' });
        throw error;
      });
      if (done) parts.audit.note(entry);
      return { done };
    },
  });

interface Ordered {
  /** For the audit log. */
  readonly order: Order;
  /** @returns whether it changed something */
  readonly make: () => Promise<boolean>;
}

const groupsSchema = z.object({ now: time, groups: list(summarySchema) }).meta({ id: 'AllocationGroupList' });

export type GroupsAnswer = z.output<typeof groupsSchema>;

/** Shows the allocation groups of the answering node, and takes the orders of operators for them. */
export const ALLOCATION_OPERATIONS = {
  groups: operation({
    operationId: 'listAllocationGroups',
    method: 'GET',
    path: 'api/allocation/groups',
    summary: 'The allocation groups of the answering node',
    description:
      'Each has the numbers of its resources, of those without an owner (`unowned`) and of those on the way (`moving`). The ' +
      "numbers are absent if the owner map can't be read; `faults` says why.",
    role: 'view',
    isHeavy: true,
    answer: groupsSchema,
    run: async ({ allocation, health, context }, _input, { sees }) => {
      // Without a group, or with none that the caller may see, nothing else asks the store.
      await health.expectAnswer();
      const seen = allocation.groups.map(({ name }) => name).filter((name) => !sees || sees(PREFIX + name));
      const overviews = allocation.overviews(seen);
      const groups = await Promise.all(overviews.map((each, at) => each.then(summaryOf, unreadable(seen[at]!))));
      return { now: timeOf(context), groups };
    },
  }),
  group: operation({
    operationId: 'getAllocationGroup',
    method: 'GET',
    path: group,
    summary: 'One allocation group: the owner of each resource, and the nodes',
    description:
      `\`resources\` has those without an owner first, up to \`limit\` (${USUAL}, at most ${MOST_SHOWN}). \`nodes\` has with ` +
      "`excluded` why a node can't own any. `pins` and `drained` are the orders of operators. `faults` has faults and warnings " +
      'of the group. `doubt` (`node`, `known`, `left`) is there while a set is in doubt (docs/allocation.md#the-set-of-resources).',
    role: 'view',
    isHeavy: true,
    params,
    query: onlyFields({ limit: limitText(MOST_SHOWN, USUAL) }),
    answer: groupSchema,
    problems: ['unknown-group', 'corrupt-record', 'newer-record'],
    run: async (parts, { params: { group: asked }, query }, caller) => {
      const overview = await groupOf(parts, asked, caller).overview();
      const { resources, pins, nodes, drained, faults: found, name, isRecovering, doubt } = overview;
      return {
        now: timeOf(parts.context),
        name,
        isRecovering,
        total: resources.length,
        unowned: unownedIn(overview),
        resources: resources.slice(0, query.limit),
        nodes,
        pins: pins.map(([resource, node]) => ({ resource, node })),
        drained,
        faults: found,
        ...(doubt && { doubt }),
      };
    },
  }),
  moves: operation({
    operationId: 'listMoves',
    method: 'GET',
    path: `${group}/moves`,
    summary: 'Which resources moved, when, from which node to which, and why; newest first',
    description:
      `\`changes\` has up to \`limit\` changes (${USUAL_CHANGES}, at most ${MOST_CHANGES}). \`resource\` (a part of an id) and \`node\` ` +
      'select moves; `unnamed` changes do not name all their resources: see docs/allocation.md#which-resource-moved-and-why.',
    role: 'view',
    params,
    query: onlyFields({
      resource: resource.optional().meta({ description: 'only resources whose id contains this text' }),
      node: name.optional().meta({ description: 'only moves from or to the node of this name' }),
      limit: limitText(MOST_CHANGES, USUAL_CHANGES),
    }),
    answer: movesSchema,
    problems: ['unknown-group'],
    run: async (parts, { params: { group: asked }, query }, caller) => {
      const moves = await groupOf(parts, asked, caller).moves(query);
      return { now: timeOf(parts.context), ...moves };
    },
  }),
  planAllocation: operation({
    operationId: 'planAllocation',
    method: 'POST',
    path: `${group}/plan`,
    summary: 'What would move if nodes went, joined or were drained, or resources were pinned; changes nothing',
    description:
      `The answer has \`moves\` (the first ${USUAL} of \`total\`), \`homeless\` (how many no node may own then), \`shares\` before and ` +
      'after, and `sentences`. 500 `invalid-strategy` says what is wrong with a strategy of the application.',
    role: 'view',
    isHeavy: true,
    params,
    body: onlyFields({
      drain: few(name).optional(),
      lose: few(name).optional().meta({ description: 'names of nodes that go at once, as after a crash' }),
      join: few(
        onlyFields({ node: name, weight: z.int().min(0).max(1000).optional() }).meta({ id: 'JoiningNode' }),
      ).optional(),
      pin: few(onlyFields({ resource, node: name }).meta({ id: 'PinRequest' })).optional(),
      unpin: few(resource).optional(),
    }).meta({ id: 'PlanAllocationRequest' }),
    answer: planSchema,
    problems: ['unknown-group', 'invalid-strategy'],
    run: async (parts, { params: { group: asked }, body: { pin = [], ...rest } }, caller) => {
      const pins = pin.map((each) => [each.resource, each.node] as const);
      const plan = await groupOf(parts, asked, caller).plan({ ...rest, pin: pins });
      return { ...plan, moves: plan.moves.slice(0, USUAL), total: plan.moves.length };
    },
  }),
  pin: order(
    { verb: 'pin', operationId: 'pinResource', summary: 'Keep a resource on a node, by its name' },
    onlyFields({ resource, node: name, ...change }).meta({ id: 'PinResourceRequest' }),
    async (of, { resource: id, node }) => ({ order: { resource: id, node }, make: () => of.pin(id, node) }),
  ),
  unpin: order(
    { verb: 'unpin', operationId: 'unpinResource', summary: 'End a pin' },
    onlyFields({ resource, ...change }).meta({ id: 'UnpinResourceRequest' }),
    async (of, { resource: id }) => ({ order: { resource: id }, make: () => of.unpin(id) }),
  ),
  drain: order(
    { verb: 'drain', operationId: 'drainNode', summary: 'Take all resources of a node away, by its name' },
    onlyFields({ node: name, ...change }).meta({ id: 'DrainNodeRequest' }),
    async (of, { node }) => ({ order: { node }, make: () => of.drain(node) }),
  ),
  undrain: order(
    { verb: 'undrain', operationId: 'undrainNode', summary: 'End a drain' },
    onlyFields({ node: name, ...change }).meta({ id: 'UndrainNodeRequest' }),
    async (of, { node }) => ({ order: { node }, make: () => of.undrain(node) }),
  ),
  confirmResources: order(
    {
      verb: 'confirm-resources',
      operationId: 'confirmResources',
      summary: 'Let the set in doubt count, which lacks most of the known resources',
      description:
        '`left` says which one you saw: if fewer resources are left by now, nothing is confirmed. Default: the present one.',
    },
    onlyFields({
      left: z
        .int()
        .min(0)
        .optional()
        .meta({ description: `${leftText}, as you saw it: a set that has fewer by now is not confirmed` }),
      ...change,
    }).meta({ id: 'ConfirmResourcesRequest' }),
    async (of, sent) => {
      // The audit log says which set it was.
      const left = sent.left ?? (await of.overview()).doubt?.left;
      return left === undefined ? undefined : { order: { left }, make: () => of.confirmResources({ left }) };
    },
  ),
};

/** @throws UnknownGroupError, or ProblemError for a group that the caller may not see */
function groupOf({ allocation }: Parts, name: string, caller: Caller): AllocationGroup {
  expectSeen(caller, { name: PREFIX + name });
  return allocation.group(name);
}

function summaryOf(overview: GroupOverview): GroupSummary {
  const { name, isRecovering, resources, nodes, faults: found } = overview;
  const moving = resources.filter(({ from }) => from !== undefined).length;
  const counts = { resources: resources.length, unowned: unownedIn(overview), moving, nodes: nodes.length };
  return { name, isRecovering, ...counts, faults: found };
}

/** An owner map that can't be read must not hide the other groups. */
function unreadable(name: string): (error: unknown) => GroupSummary {
  return (error) => {
    if (!isUnreadable(error)) throw error;
    return { name, isRecovering: false, faults: [error.message] };
  };
}

function unownedIn({ resources }: GroupOverview): number {
  return resources.filter(({ node }) => node === undefined).length;
}
