import type { AllocationPlan, GroupSummary, OwnedBy, PastChange, PastMove, PastMoves } from '../../allocation/index.js';
import type { AnswerOf } from '../operator/operator.js';
import { plain } from '../text/plain.js';
import { excerpt, table } from '../text/table.js';
import { timeText } from '../text/times.js';

/** Formats the groups of a node, one line each. "?" stands for the numbers of an owner map that can't be read. */
export function groupsText({ groups }: { readonly groups: readonly GroupSummary[] }): string {
  if (groups.length === 0) return 'no allocation groups on the answering node';
  const head = ['group', 'resources', 'no owner', 'moving', 'nodes', 'remark'];
  return table(
    head,
    groups.map(({ name, resources, unowned, moving, nodes, faults, isRecovering }) => [
      name,
      ...[resources, unowned, moving, nodes].map((each) => (each === undefined ? '?' : String(each))),
      remark(isRecovering, faults),
    ]),
  );
}

/** Formats the nodes of a group, and below them its resources, those without an owner first. */
export function groupText({ resources, nodes, total, unowned, faults, isRecovering }: AnswerOf<'group'>): string {
  const about = remark(isRecovering, faults);
  return [
    `${count(total, 'resource')}, ${unowned} without an owner, ${count(nodes.length, 'node')}`,
    ...(about ? [plain(about)] : []),
    '',
    table(
      ['node', 'owned', 'weight', 'remark'],
      nodes.map(({ node, owned, weight, isDrained, excluded }) => [
        node,
        String(owned),
        String(weight),
        isDrained ? 'drained' : (excluded ?? ''),
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

/** Number of resources that a line names. */
const MOST_NAMED = 3;

/** Formats past moves, the newest first: one line per nodes and reason. */
export function movesText({ changes, unnamed }: PastMoves): string {
  if (changes.length === 0) return ['no moves', ...unnamedText(unnamed)].join('\n');
  const rows = changes.flatMap((change) => [
    ...change.moves.map((move) => moveRow(change, move)),
    ...(change.sentence === undefined ? [] : [[timeText(change.at), '-', '-', '-', '-', change.sentence]]),
  ]);
  return [table(['at', 'count', 'resources', 'from', 'to', 'why'], rows), ...unnamedText(unnamed)].join('\n');
}

function moveRow({ at }: PastChange, move: PastMove) {
  const { step, count: moved, resources, from = '-', to = '-', fromInstance, toInstance, why, reason } = move;
  const named = resources.slice(0, MOST_NAMED);
  const names = [...named, ...(moved > named.length ? ['...'] : [])].join(', ');
  const next = step === 'taken' && why !== 'removed' ? '(on the way)' : ownerText(to, toInstance);
  return [timeText(at), String(moved), names, ownerText(from, fromInstance), next, reason];
}

/** @param instance present if the other owner has the same name */
function ownerText(node: string, instance: string | undefined): string {
  return instance === undefined ? node : `${node} (${instance.slice(0, 8)})`;
}

function unnamedText(unnamed: number): string[] {
  if (unnamed === 0) return [];
  return [`${count(unnamed, 'change')} moved more resources than the history names: they may have been among them`];
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
