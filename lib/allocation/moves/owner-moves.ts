import type { OwnerMoves } from './move-answers.js';
import { eachInPieces, type Pieces } from '../../core/async/slices.js';
import type { OwnerStep } from './owner-steps.js';

/** Maximum number of {@link OwnerMoves} of one change. */
const MOST_MOVES = 50;
/** Maximum number of resources that one change names, and of the characters of their ids, as JSON. */
const MOST_NAMED = 50;
const MOST_CHARACTERS = 4000;

interface Group {
  readonly step: OwnerStep;
  count: number;
  readonly resources: string[];
}

/**
 * Sums steps up: one entry for each reason, former node and next node, or their processes if both nodes have the same
 * name. The largest comes first. A change of 10,000 resources is no larger than one of 50.
 */
export function* movesOf(steps: readonly OwnerStep[]): Pieces<OwnerMoves[]> {
  const groups = new Map<string, Group>();
  yield* eachInPieces(steps, (step) => {
    const key = JSON.stringify([step.step, step.from, step.to, step.why, processesOf(step)]);
    const group = groups.get(key) ?? { step, count: 0, resources: [] };
    groups.set(key, group);
    group.count++;
    if (group.resources.length < MOST_NAMED) group.resources.push(step.resource);
  });
  const largest = [...groups.values()].toSorted((one, other) => other.count - one.count).slice(0, MOST_MOVES);
  const named = namedOf(largest);
  return largest.map(({ step, count }, at) => ({
    step: step.step,
    ...(step.from !== undefined && { from: step.from }),
    ...(step.to !== undefined && { to: step.to }),
    ...processesOf(step),
    why: step.why,
    count,
    resources: named[at]!,
  }));
}

/** Instances of both owners, if their nodes have the same name. Other owners differ by their names. */
function processesOf({
  from,
  to,
  fromInstance,
  toInstance,
}: OwnerStep): Pick<OwnerMoves, 'fromInstance' | 'toInstance'> {
  if (from === undefined || from !== to) return {};
  return { ...(fromInstance !== undefined && { fromInstance }), ...(toInstance !== undefined && { toInstance }) };
}

/** One resource of each group in turn, so that small groups are named, too. */
function namedOf(groups: readonly Group[]): string[][] {
  const named = groups.map((): string[] => []);
  let count = 0;
  let characters = 0;
  for (let turn = 0; turn < MOST_NAMED; turn++) {
    for (const [at, { resources }] of groups.entries()) {
      const resource = resources[turn];
      if (resource === undefined) continue;
      characters += JSON.stringify(resource).length;
      if (++count > MOST_NAMED || characters > MOST_CHARACTERS) return named;
      named[at]!.push(resource);
    }
  }
  return named;
}
