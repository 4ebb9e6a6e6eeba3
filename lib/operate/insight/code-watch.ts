import { type NodeCode, type NodeInfo } from '../activity/index.js';
import { MOST_ANNOUNCED, fingerprintsIn, nameHash } from '../../core/permits/declared/node-code.js';
import { type Pieces, inSlices } from '../../core/async/slices.js';
import { type Context, timeOf } from '../../core/context/context.js';
import { listed, quoted } from '../../core/decision/index.js';
import { LONGEST_DEPLOY, nodesText } from '../definitions/index.js';
import type { DeclaredDefinitions } from '../../core/permits/declared/declared-definitions.js';
import { groupedBy } from './grouped.js';
import type { FaultPart } from './leader-watch.js';
import type { NodesReader, NodesReading } from './nodes-watch.js';

/** Number of definitions of a name, with their nodes, that a sentence shows. */
const MOST_SIDES = 3;

/** Names of which living nodes have different definitions in their code. The same nodes disagree about all of them. */
export interface CodeConflict {
  /** The hashes of the names. */
  readonly hashes: ReadonlySet<string>;
  /** The nodes of each definition, in the order in which the first node of each started. At least two. */
  readonly sides: readonly (readonly NodeInfo[])[];
  /** Since when living nodes disagree: cluster time, ms since the epoch. */
  readonly since: number;
}

/**
 * Finds the names that living nodes define differently. Pure. In the usual case all of them have the same code.
 *
 * @param announced hears of the definitions of each version of the code, with fingerprints by the hashes of their names
 */
export function* codeConflicts(
  codes: readonly NodeCode[],
  announced: (fingerprints: ReadonlyMap<string, string>) => void = () => undefined,
): Pieces<CodeConflict[]> {
  const versions = [...groupedBy(codes, ({ code }) => code)];
  yield codes.length;
  /** Of each name, the versions that have the same definition. */
  const byName = new Map<string, Map<string, number[]>>();
  for (const [version, [code]] of versions.entries()) {
    const fingerprints = fingerprintsIn(code);
    announced(fingerprints);
    yield fingerprints.size;
    // With one version there is nothing to compare.
    if (versions.length < 2) return [];
    for (const [hash, fingerprint] of fingerprints) {
      const definitions = byName.get(hash) ?? new Map<string, number[]>();
      byName.set(hash, definitions.set(fingerprint, [...(definitions.get(fingerprint) ?? []), version]));
    }
    yield fingerprints.size;
  }
  const differing = [...byName].filter(([, definitions]) => definitions.size > 1);
  const groups = groupedBy(differing, ([, definitions]) => JSON.stringify([...definitions.values()]));
  yield byName.size;
  return [...groups].map(([key, names]) => {
    const sides = (JSON.parse(key) as number[][]).map((same) => same.flatMap((version) => versions[version]![1]));
    return conflict(new Set(names.map(([hash]) => hash)), sides);
  });
}

function conflict(hashes: ReadonlySet<string>, sides: readonly (readonly NodeCode[])[]): CodeConflict {
  const begun = sides
    .map((nodes) => ({
      nodes: nodes.map(({ node }) => node),
      at: Math.min(...nodes.map(({ node }) => node.startedAt)),
    }))
    .toSorted((one, other) => one.at - other.at);
  // They disagree since a second definition is there.
  return { hashes, sides: begun.map(({ nodes }) => nodes), since: begun[1]!.at };
}

/**
 * Warns, once each time, of definitions that differ in the code of living nodes for longer than a deploy: the stored one
 * stays, so the code of some nodes is not followed.
 */
export class CodeWatch implements NodesReader {
  readonly action = 'compare the code of the nodes';
  #conflicts: readonly CodeConflict[] = [];
  #faults: readonly FaultPart[] = [];
  /** Names of this node's code in the present faults. */
  #told: ReadonlySet<string> = new Set();
  readonly #announced = new AnnouncedNames();

  constructor(
    private readonly declared: Pick<DeclaredDefinitions, 'all' | 'recordOf'>,
    private readonly context: Context,
  ) {}

  /** One fault per group of nodes that disagree, about names in this node's code. */
  get faults(): readonly FaultPart[] {
    return this.#faults;
  }

  /** The warning about one name, also of one that only other nodes' code defines. @returns undefined if there is none */
  sentenceOf(name: string): string | undefined {
    if (this.#conflicts.length === 0) return undefined;
    const hash = nameHash(name);
    const found = this.#conflicts.find(({ hashes }) => hashes.has(hash));
    return found && sentenceOf([name], found);
  }

  /** Whether no living node has had a name in its code, for longer than a deploy. Nodes without a heartbeat don't count. */
  isLeftOver(name: string): boolean {
    return this.#announced.isGone(name, this.context.nodeClock.monotonic());
  }

  async look({ codes, isWhole }: NodesReading): Promise<void> {
    const { nodeClock, events } = this.context;
    const seen = this.#announced.begin(isWhole, nodeClock.monotonic());
    const conflicts = await inSlices(
      codeConflicts(codes, (fingerprints) => seen.add(fingerprints)),
      nodeClock,
    );
    seen.end();
    const now = timeOf(this.context);
    this.#conflicts = conflicts.filter(({ since }) => now - since > LONGEST_DEPLOY);
    const found = await inSlices(this.#ownNames(), nodeClock);
    const former = this.#told;
    this.#told = new Set(found.flatMap(({ names }) => names));
    this.#faults = found.map(({ names, conflict: { since, ...rest } }) => {
      const sentence = sentenceOf(names, { since, ...rest });
      return { subject: names[0]!, since: nodeClock.monotonic() - (now - since), sentence };
    });
    for (const [index, { names }] of found.entries()) {
      if (names.every((name) => former.has(name))) continue;
      events.next({ type: 'code-not-followed', semaphores: names, sentence: this.#faults[index]!.sentence });
    }
  }

  /** The names of each conflict that this node's code defines. An operator's definition counts on all nodes. */
  *#ownNames(): Pieces<{ readonly conflict: CodeConflict; readonly names: readonly string[] }[]> {
    if (this.#conflicts.length === 0) return [];
    const hashed = new Map<string, string>();
    for (const { name } of this.declared.all) {
      if (this.declared.recordOf(name)?.source === 'code') hashed.set(nameHash(name), name);
      yield 1;
    }
    return this.#conflicts.flatMap((each) => {
      const names = [...each.hashes].flatMap((hash) => hashed.get(hash) ?? []).toSorted();
      return names.length > 0 ? [{ conflict: each, names }] : [];
    });
  }

  /** After a look that failed, no name is gone for sure. */
  forget(): void {
    this.#announced.forget();
  }
}

/** The names in the code of living nodes, by their hashes, with the monotonic ms at which each was last seen. */
class AnnouncedNames {
  readonly #seen = new Map<string, number>();
  /** Since when each look has found the whole code of all nodes. Otherwise a name may live in what was not read. */
  #wholeSince?: number | undefined;

  /** Begins a look. @param isWhole whether the code of all nodes can be read @param at monotonic ms */
  begin(isWhole: boolean, at: number) {
    let isAll = isWhole;
    return {
      add: (fingerprints: ReadonlyMap<string, string>): void => {
        // A node announces no more than these.
        isAll &&= fingerprints.size < MOST_ANNOUNCED;
        for (const hash of fingerprints.keys()) this.#seen.set(hash, at);
      },
      end: (): void => {
        for (const [hash, last] of this.#seen) if (at - last > LONGEST_DEPLOY) this.#seen.delete(hash);
        this.#wholeSince = isAll ? (this.#wholeSince ?? at) : undefined;
      },
    };
  }

  forget(): void {
    this.#wholeSince = undefined;
  }

  isGone(name: string, at: number): boolean {
    const since = this.#wholeSince;
    return since !== undefined && at - since > LONGEST_DEPLOY && !this.#seen.has(nameHash(name));
  }
}

function sentenceOf(names: readonly string[], { sides }: CodeConflict): string {
  return (
    `living nodes have different definitions of ${listed(names, quoted)} in their code, for longer than a deploy takes: ` +
    `${sidesText(sides)}. The stored one stays meanwhile. End the deploy, or give all of them the ` +
    'same definition. If they are meant to differ, use a name for each; an "edit" decides for all of them'
  );
}

function sidesText(sides: CodeConflict['sides']): string {
  const shown = sides.slice(0, MOST_SIDES).map(nodesText).join(', and otherwise ');
  return sides.length > MOST_SIDES ? `${shown}, and ${sides.length - MOST_SIDES} more` : shown;
}
