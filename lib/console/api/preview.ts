import type { Pieces } from '../../core/async/slices.js';
import type { Definitions, NodeInfo } from '../../gatekeeper/index.js';
import {
  type SemaphoreDefinition,
  compileInPieces,
  definitionSchema,
  mismatchInPieces,
} from '../../core/decision/index.js';
import type { Preview, PreviewedNode } from './answers.js';

/**
 * Finds the faults of a definition that a user is writing, and the nodes that it would match. A pattern with a fault
 * matches no node. The other pattern is checked even then.
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

/**
 * Returns a definition with the unchecked patterns. A pattern with a fault compiles to a matcher that matches nothing.
 */
function triable({ groupPattern = '', acquirerPattern = '' }: Partial<SemaphoreDefinition>): SemaphoreDefinition {
  return { ...definitionSchema.parse({ name: 'preview', duration: 1 }), groupPattern, acquirerPattern };
}
