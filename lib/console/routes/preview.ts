import type { Pieces } from '../../async/slices.js';
import type { Definitions, NodeInfo } from '../../gatekeeper/index.js';
import { type SemaphoreDefinition, compileInPieces, definitionSchema, mismatchInPieces } from '../../decision/index.js';
import type { Preview, PreviewedNode } from '../api/index.js';

/**
 * The faults of a definition that is being written, and the nodes it would let through. If one pattern has a
 * fault, the other one is still checked; a pattern with a fault matches no node.
 */
export function* previewOf(input: object, nodes: readonly NodeInfo[], definitions: Definitions): Pieces<Preview> {
  const tried = triable(input as Partial<SemaphoreDefinition>);
  yield* compileInPieces([tried.groupPattern, tried.acquirerPattern]);
  const previewed: PreviewedNode[] = [];
  for (const { group, acquirer, instance } of nodes) {
    const mismatch = yield* mismatchInPieces(tried, { group, acquirer });
    previewed.push({ group, acquirer, instance, matches: mismatch === undefined, ...(mismatch && { mismatch }) });
  }
  return { faults: definitions.faultsOf(input), nodes: previewed };
}

/** Patterns that are not checked yet: one with a fault compiles to a matcher that matches nothing. */
function triable({ groupPattern = '', acquirerPattern = '' }: Partial<SemaphoreDefinition>): SemaphoreDefinition {
  return { ...definitionSchema.parse({ name: 'preview', duration: 1 }), groupPattern, acquirerPattern };
}
