import type { AllocationPlan, OwnedBy, PastChange } from '../../allocation/index.js';
import type { GroupSummary } from '../api/allocation.js';
import type { AnswerOf } from '../api/calls.js';
import type { Columns } from './column.js';
import { shortId } from './texts.js';

/** Allocation groups. "?" stands for the numbers of an owner map that can't be read. */
export const GROUP_COLUMNS = {
  group: { title: 'Group', value: ({ name }) => name },
  resources: { title: 'Resources', value: ({ resources = '?' }) => resources },
  unowned: { title: 'No owner', value: ({ unowned = '?' }) => unowned },
  moving: { title: 'Moving', value: ({ moving = '?' }) => moving },
  nodes: { title: 'Nodes', value: ({ nodes = '?' }) => nodes },
  remark: { title: 'Remark', value: groupRemark },
} satisfies Columns<GroupSummary>;

/** Remark about a group: its faults, and whether it recovers. */
export function groupRemark({ isRecovering, faults }: Pick<GroupSummary, 'isRecovering' | 'faults'>): string {
  return [...(isRecovering ? ['recovering: nothing is granted yet'] : []), ...faults].join('; ');
}

/** The nodes of a group. */
export const GROUP_NODE_COLUMNS = {
  node: { title: 'Node', value: ({ node }) => node },
  owned: { title: 'Owned', value: ({ owned }) => owned },
  weight: { title: 'Weight', value: ({ weight }) => weight },
  remark: { title: 'Remark', value: ({ isDrained, excluded = '' }) => (isDrained ? 'drained' : excluded) },
} satisfies Columns<AnswerOf<'group'>['nodes'][number]>;

/** The resources of a group with their owners. */
export const OWNER_COLUMNS = {
  resource: { title: 'Resource', value: ({ id }) => id },
  owner: { title: 'Owner', value: ({ node }) => node },
  token: { title: 'Token', value: ({ token }) => token },
  remark: { title: 'Remark', value: ownerRemark },
} satisfies Columns<OwnedBy>;

function ownerRemark({ node, from, pinnedTo }: OwnedBy): string {
  return [
    ...(node === undefined ? ['NO OWNER'] : []),
    ...(from === undefined ? [] : [notGivenBack(from)]),
    ...(pinnedTo === undefined ? [] : [`pinned to ${pinnedTo}`]),
  ].join('; ');
}

/** Why a resource is not free yet. @param from its former owner */
export function notGivenBack(from: string): string {
  return `${from} has not given it back yet`;
}

/** The shares of nodes before and after a plan. */
export const PLAN_COLUMNS = {
  node: { title: 'Node', value: ({ id }) => id },
  before: { title: 'Owns now', value: ({ before }) => before },
  after: { title: 'Would own', value: ({ after }) => after },
} satisfies Columns<AllocationPlan['shares'][number]>;

/** Resources that moved in one change of the owner map: with the same nodes and reason, or a sentence in place of them. */
interface MoveRow {
  readonly at: number;
  readonly move?: PastChange['moves'][number];
  readonly sentence?: string | undefined;
}

/** The rows of past changes. */
export function moveRows(changes: readonly PastChange[]): MoveRow[] {
  return changes.flatMap(({ at, moves, sentence }) => [
    ...moves.map((move) => ({ at, move })),
    ...(sentence === undefined ? [] : [{ at, sentence }]),
  ]);
}

/** Number of resources that a row names. */
const MOST_NAMED = 3;

/** Past moves. */
export const MOVE_COLUMNS = {
  when: { title: 'When', value: ({ at }) => at, kind: 'time' },
  count: { title: 'Count', value: ({ move }) => move?.count },
  resources: { title: 'Resources', value: ({ move }) => move && resourcesText(move) },
  from: { title: 'From', value: ({ move }) => ownerText(move?.from, move?.fromInstance) },
  to: {
    title: 'To',
    value: ({ move }) => (isOnTheWay(move) ? '(on the way)' : ownerText(move?.to, move?.toInstance)),
  },
  why: { title: 'Why', value: ({ move, sentence }) => move?.reason ?? sentence },
} satisfies Columns<MoveRow>;

function resourcesText({ count, resources }: NonNullable<MoveRow['move']>): string {
  const named = resources.slice(0, MOST_NAMED);
  return [...named, ...(count > named.length ? ['...'] : [])].join(', ');
}

/** Whether no node has the resources yet. */
export function isOnTheWay(move: MoveRow['move']): boolean {
  return move?.step === 'taken' && move.why !== 'removed';
}

/** @param instance present if the other owner has the same name */
function ownerText(node: string | undefined, instance: string | undefined): string | undefined {
  return node === undefined || instance === undefined ? node : `${node} (${shortId(instance)})`;
}
