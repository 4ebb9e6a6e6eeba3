import type { ExternalTasks, Task } from '../../lib/tasks/index.js';
import type { TestNode } from '../support/nodes.js';

const NEVER = new AbortController().signal;
/** ms */
export const LEASE = 10_000;
const WORKER = { instance: 'http:paul', acquirer: 'paul' };

interface Claimed {
  readonly task: Task;
  /** ms */
  readonly remaining: number;
}

type Claiming = Parameters<ReturnType<typeof external>['claim']>[0];

type Calls = Pick<ExternalTasks, 'claim' | 'renew' | 'complete' | 'fail' | 'retryLater' | 'giveBack'>;

/** The calls for programs, on a node. */
export function external({ gatekeeper }: TestNode): Calls {
  const opened = async () => (await gatekeeper.tasks.open()).external;
  return {
    claim: async (...args) => (await opened()).claim(...args),
    renew: async (...args) => (await opened()).renew(...args),
    complete: async (...args) => (await opened()).complete(...args),
    fail: async (...args) => (await opened()).fail(...args),
    retryLater: async (...args) => (await opened()).retryLater(...args),
    giveBack: async (...args) => (await opened()).giveBack(...args),
  };
}

/** A request of the worker `paul` for one task of the type `mail`. */
export function request(given: Partial<Claiming> = {}): Claiming {
  return { worker: WORKER, types: ['mail'], most: 1, lease: LEASE, wait: 0, signal: NEVER, ...given };
}

/** Claims tasks for the worker. */
export async function claimed(node: TestNode, given?: Partial<Claiming>): Promise<Claimed[]> {
  const { tasks } = await external(node).claim(request(given));
  return tasks.map(({ claim: { task }, remaining }) => ({ task, remaining }));
}

/** Claims one task, which must be there. */
export async function claimOne(node: TestNode, given?: Partial<Claiming>): Promise<Claimed> {
  const [one] = await claimed(node, given);
  if (!one) throw new Error('there was no task');
  return one;
}

/** The attempt of the worker at a task that it has claimed. */
export function attemptAt({ id, token }: Task) {
  return { id, token, instance: WORKER.instance };
}

/** A promise that the test looks at. */
export function watched<T>(promise: Promise<T>): { readonly promise: Promise<T>; readonly isOver: boolean } {
  const state = { promise, isOver: false };
  const end = () => void (state.isOver = true);
  promise.then(end, end);
  return state;
}
