import type { AllocationPlan, PastMoves } from '../../allocation/index.js';
import type { GroupSummary } from '../../console/api/allocation.js';
import {
  GROUP_COLUMNS,
  GROUP_NODE_COLUMNS,
  MOVE_COLUMNS,
  OWNER_COLUMNS,
  PLAN_COLUMNS,
  groupRemark,
  moveRows,
} from '../../console/lists/allocation.js';
import type { AnswerOf } from '../operator/operator.js';
import { plain } from '../text/plain.js';
import { cellsOf, excerpt, table } from '../text/table.js';

/** Formats the groups of a node, one line each. */
export function groupsText({ groups }: { readonly groups: readonly GroupSummary[] }): string {
  return groups.length > 0 ? table(...cellsOf(GROUP_COLUMNS, groups)) : 'no allocation groups on the answering node';
}

/** Formats the nodes of a group, and below them its resources, those without an owner first. */
export function groupText({ resources, nodes, total, unowned, ...group }: AnswerOf<'group'>): string {
  const about = groupRemark(group);
  return [
    `${count(total, 'resource')}, ${unowned} without an owner, ${count(nodes.length, 'node')}`,
    ...(about ? [plain(about)] : []),
    '',
    table(...cellsOf(GROUP_NODE_COLUMNS, nodes)),
    '',
    excerpt(...cellsOf(OWNER_COLUMNS, resources)),
  ].join('\n');
}

/** Formats what would move, and the shares before and after. */
export function planText({ sentences, shares, moves }: AllocationPlan): string {
  if (moves.length === 0) return 'nothing would move';
  return [...sentences.map(plain), '', table(...cellsOf(PLAN_COLUMNS, shares))].join('\n');
}

/** Formats past moves, the newest first: one line per nodes and reason. */
export function movesText({ changes, unnamed }: PastMoves): string {
  const moves = changes.length > 0 ? table(...cellsOf(MOVE_COLUMNS, moveRows(changes))) : 'no moves';
  return [moves, ...unnamedText(unnamed)].join('\n');
}

function unnamedText(unnamed: number): string[] {
  if (unnamed === 0) return [];
  return [`${count(unnamed, 'change')} moved more resources than the history names: they may have been among them`];
}

function count(number: number, one: string): string {
  return `${number} ${number === 1 ? one : `${one}s`}`;
}
