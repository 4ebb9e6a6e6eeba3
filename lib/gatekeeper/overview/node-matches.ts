import { type SemaphoreDefinition, mismatchOf } from '../../semaphores/index.js';
import type { NodeInfo } from '../nodes/index.js';

/** Which nodes a definition lets through; found once for all definitions that have the same patterns. */
export class NodeMatches {
  readonly #known = new Map<string, ReadonlySet<NodeInfo>>();

  constructor(readonly nodes: readonly NodeInfo[]) {}

  of(definition: SemaphoreDefinition): ReadonlySet<NodeInfo> {
    const key = `${definition.groupPattern}\n${definition.acquirerPattern}`;
    const known = this.#known.get(key);
    if (known) return known;
    const matching = new Set(this.nodes.filter((node) => mismatchOf(definition, node) === undefined));
    this.#known.set(key, matching);
    return matching;
  }
}
