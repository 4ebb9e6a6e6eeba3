import { InvalidOptionsError, show } from '../core/decision/index.js';
import { type SubmitRequest, expectList } from './records/submit-many.js';

/** Options of `distribute()`. */
export interface DistributeOptions {
  /**
   * The nodes that get the tasks in turn: instances, or participants of the cluster. At least one. A node that stands there
   * twice counts once.
   */
  readonly over: readonly (
    | string
    | {
        /** Id of the node's process. */
        readonly instance: string;
      }
  )[];
}

/**
 * Addresses the tasks of a list to nodes in turn, so that the numbers of two nodes differ by one at most.
 *
 * @throws InvalidOptionsError
 */
export function addressedTo<In>(
  tasks: Iterable<SubmitRequest<In>> | AsyncIterable<SubmitRequest<In>>,
  options: DistributeOptions,
): AsyncIterable<SubmitRequest<In>> {
  return inTurn(expectList(tasks), instancesOf(options));
}

async function* inTurn<In>(
  tasks: Iterable<SubmitRequest<In>> | AsyncIterable<SubmitRequest<In>>,
  instances: readonly string[],
): AsyncGenerator<SubmitRequest<In>> {
  let count = 0;
  for await (const task of tasks) {
    if (task?.options?.to !== undefined) throw new InvalidOptionsError(`task ${show(task.name.id)}`, [OWN_ADDRESS]);
    const instance = instances[count++ % instances.length]!;
    yield { ...task, options: { ...task?.options, to: { instance, orAnother: true } } };
  }
}

const OWN_ADDRESS = 'to: distribute() gives the address; submit the task alone, or leave "to" out';

function instancesOf(options: DistributeOptions | undefined): string[] {
  const over: unknown = options?.over;
  const fault = !Array.isArray(over)
    ? `${show(over)} is not a list of instances or participants`
    : over.length === 0
      ? 'is empty: give at least one node, such as the participants of the cluster'
      : undefined;
  if (fault !== undefined) throw new InvalidOptionsError('distribute()', [`over: ${fault}`]);
  return [...new Set((over as unknown[]).map(instanceOf))];
}

function instanceOf(node: unknown, index: number): string {
  const instance: unknown = typeof node === 'object' ? (node as { instance?: unknown } | null)?.instance : node;
  if (typeof instance === 'string' && instance !== '') return instance;
  throw new InvalidOptionsError('distribute()', [
    `over[${index}]: ${show(node)} is neither an instance nor a participant`,
  ]);
}
