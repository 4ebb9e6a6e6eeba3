import { shortId } from '../../lists/texts.js';
import type { NodeWork } from '../api/answers.js';
import { useTypes } from '../parts/work-views.js';

/** Returns the name of the node of an instance; its short id if the node is gone; "http:" and the token of a program. */
export function useNodeNames(): (instance: string) => string {
  const types = useTypes(true);
  return namesOf(types.data.value?.nodes ?? []);
}

export function namesOf(nodes: readonly Pick<NodeWork, 'node'>[]): (instance: string) => string {
  const names = new Map(nodes.map(({ node }) => [node.instance, node.acquirer]));
  return (instance) => names.get(instance) ?? (instance.startsWith('http:') ? instance : shortId(instance));
}
