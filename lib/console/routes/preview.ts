import type { Definitions, NodeInfo } from '../../gatekeeper/index.js';
import { type SemaphoreDefinition, definitionSchema, mismatchOf } from '../../semaphores/index.js';
import type { Preview, PreviewedNode } from '../api/index.js';

/**
 * What is wrong with a definition that somebody is writing, and whom it would let through. While one pattern has a
 * fault the other is tried all the same; one with a fault matches nobody.
 */
export function previewOf(input: object, nodes: readonly NodeInfo[], definitions: Definitions): Preview {
  const tried = triable(input as Partial<SemaphoreDefinition>);
  return { faults: definitions.faultsOf(input), nodes: nodes.map((node) => previewed(node, tried)) };
}

/** Patterns of which nothing but their text is known: compiling one that has a fault gives a matcher of nobody. */
function triable({ groupPattern = '', acquirerPattern = '' }: Partial<SemaphoreDefinition>): SemaphoreDefinition {
  return { ...definitionSchema.parse({ name: 'preview', duration: 1 }), groupPattern, acquirerPattern };
}

function previewed({ group, acquirer, instance }: NodeInfo, definition: SemaphoreDefinition): PreviewedNode {
  const mismatch = mismatchOf(definition, { group, acquirer });
  return { group, acquirer, instance, matches: mismatch === undefined, ...(mismatch && { mismatch }) };
}
