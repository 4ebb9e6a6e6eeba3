import { type SemaphoreDefinition, mismatchInPieces } from '../../core/decision/index.js';
import type { Pieces } from '../../core/async/slices.js';
import type { NodeInfo } from './node-info.js';

/** Finds the nodes that a definition matches. Definitions with the same patterns share the result. */
export class NodeMatches {
  readonly #known = new Map<string, ReadonlySet<NodeInfo>>();

  constructor(readonly nodes: readonly NodeInfo[]) {}

  *of(definition: SemaphoreDefinition): Pieces<ReadonlySet<NodeInfo>> {
    const key = `${definition.groupPattern}\n${definition.acquirerPattern}`;
    const known = this.#known.get(key);
    if (known) return known;
    const matching = new Set<NodeInfo>();
    for (const node of this.nodes) {
      if ((yield* mismatchInPieces(definition, node)) === undefined) matching.add(node);
    }
    this.#known.set(key, matching);
    return matching;
  }
}
