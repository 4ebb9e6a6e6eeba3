import { InvalidOptionsError, show } from '../core/decision/index.js';
import { byText } from './assign/participant.js';
import { faultOfId } from './resource-id.js';

/**
 * Divides resources over a fixed number of nodes without a cluster: node k gets every `of`-th resource, in ascending
 * order of the ids. The shares differ by at most 1, and together they are all resources.
 *
 * It is a pure function and asks no store. So it is exact only while all nodes pass the same resources and the same
 * number of nodes. While one of the two changes, a resource can have two owners, or none, until every node has the new
 * value. Use it where doing work twice does no harm, or guard the work by a semaphore per resource. With a semaphore of
 * n permits, `permit.slot` is the number of the node.
 *
 * @param resources ids, in any order, each once; 1 to 500 characters each
 * @param node number of this node: 0 to `of` - 1
 * @param of number of nodes: 1 or more
 * @returns the ids of this node, in ascending order
 * @throws InvalidOptionsError if an argument is out of range, or an id is empty, too long or given twice
 * @example manualSlice(['a', 'b', 'c', 'd', 'e'], 0, 2) // ['a', 'c', 'e']
 */
export function manualSlice(resources: readonly string[], node: number, of: number): string[] {
  const faults = [...faultsOfCount(node, of), ...faultsOfResources(resources)];
  if (faults.length > 0) throw new InvalidOptionsError('the arguments of manualSlice', faults);
  return resources.toSorted(byText).filter((_, index) => index % of === node);
}

function faultsOfCount(node: number, of: number): string[] {
  if (!Number.isSafeInteger(of) || of < 1) return [`of: ${show(of)} is not a whole number of nodes, 1 or more`];
  if (Number.isSafeInteger(node) && node >= 0 && node < of) return [];
  return [`node: ${show(node)} is not the number of one of ${of} nodes: give 0 to ${of - 1}`];
}

function faultsOfResources(resources: unknown): string[] {
  if (!Array.isArray(resources)) return [`resources: ${show(resources)} is not a list of ids`];
  const seen = new Set<unknown>();
  for (const [index, id] of resources.entries()) {
    const fault = faultOfId(id) ?? (seen.has(id) ? `${show(id)} is given twice` : undefined);
    if (fault !== undefined) return [`resources[${index}]: ${fault}`];
    seen.add(id);
  }
  return [];
}
