import type { AllocationPlan, GroupNode, GroupSummary, OwnedBy } from '../../allocation/index.js';
import { plain } from '../text/plain.js';
import { excerpt, table } from '../text/table.js';

/** A group with the owner of each resource. The list may be shorter than `total`. */
export interface Group {
  readonly now: number;
  readonly name: string;
  readonly isRecovering: boolean;
  readonly total: number;
  readonly unowned: number;
  readonly resources: readonly OwnedBy[];
  readonly nodes: readonly GroupNode[];
  readonly faults: readonly string[];
}

/** Formats the groups of a node, one line each. */
export function groupsText({ groups }: { readonly groups: readonly GroupSummary[] }): string {
  if (groups.length === 0) return 'no allocation groups on the answering node';
  const head = ['group', 'resources', 'no owner', 'moving', 'nodes', 'remark'];
  return table(
    head,
    groups.map(({ name, resources, unowned, moving, nodes, faults, isRecovering }) => [
      name,
      ...[resources, unowned, moving, nodes].map(String),
      remark(isRecovering, faults),
    ]),
  );
}

/** Formats the nodes of a group, and below them its resources, those without an owner first. */
export function groupText({ resources, nodes, total, unowned, faults, isRecovering }: Group): string {
  const about = remark(isRecovering, faults);
  return [
    `${count(total, 'resource')}, ${unowned} without an owner, ${count(nodes.length, 'node')}`,
    ...(about ? [plain(about)] : []),
    '',
    table(
      ['node', 'owned', 'weight', 'remark'],
      nodes.map(({ node, owned, weight, isDrained }) => [
        node,
        String(owned),
        String(weight),
        isDrained ? 'drained' : '',
      ]),
    ),
    '',
    excerpt(['resource', 'node', 'token', 'remark'], resources.map(resourceRow)),
  ].join('\n');
}

/** Formats what would move, and the shares before and after. */
export function planText({ sentences, shares, moves }: AllocationPlan): string {
  if (moves.length === 0) return 'nothing would move';
  const rows = shares.map(({ id, before, after }) => [id, String(before), String(after)]);
  return [...sentences.map(plain), '', table(['node', 'before', 'after'], rows)].join('\n');
}

function resourceRow({ id, node, token, from, pinnedTo }: OwnedBy): string[] {
  const remarks = [
    ...(node === undefined ? ['NO OWNER'] : []),
    ...(from === undefined ? [] : [`${from} has not given it back yet`]),
    ...(pinnedTo === undefined ? [] : [`pinned to ${pinnedTo}`]),
  ];
  return [id, node ?? '-', token === undefined ? '-' : String(token), remarks.join('; ')];
}

function remark(isRecovering: boolean, faults: readonly string[]): string {
  return [...(isRecovering ? ['recovering: nothing is granted yet'] : []), ...faults].join('; ');
}

function count(number: number, one: string): string {
  return `${number} ${number === 1 ? one : `${one}s`}`;
}
