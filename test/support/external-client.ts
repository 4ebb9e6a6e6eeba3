import { JOB, type TestCluster, type TestNode } from './nodes.js';
import { partsOf } from '../../lib/gatekeeper/parts.js';

export const TOLERANCE = 500;
export const DURATION = 10_000;

interface Asking {
  readonly holder?: string;
  readonly duration?: number;
  readonly wait?: number;
  readonly signal?: AbortSignal;
}

const noSignal = new AbortController().signal;

export function take(
  { gatekeeper }: TestNode,
  { holder = 'script', duration, wait = 0, signal = noSignal }: Asking = {},
) {
  const who = { semaphore: 'job', instance: 'http:ann', acquirer: 'ann', holder };
  return partsOf(gatekeeper).external.take({ ...who, ...(duration !== undefined && { duration }) }, { wait, signal });
}

/** A permit that is granted, as a later request names it. */
export async function taken(node: TestNode, asking: Asking = {}) {
  const answer = await take(node, asking);
  if (answer.outcome !== 'granted') throw new Error(`denied: ${answer.reason}`);
  const { id, token } = answer.permit;
  return { semaphore: 'job', instance: 'http:ann', id, token };
}

/** A node whose store tells it nothing of what happens to the records. */
export async function deafNode(nodes: TestCluster): Promise<TestNode> {
  await nodes.bear();
  const node = nodes.unstarted({ definitions: [JOB], definitionsDelay: 0 });
  node.store.watch = async () => async () => undefined;
  await node.gatekeeper.start();
  await nodes.time.advance(0);
  return node;
}

/** Does something else to the next write only. */
export function onNextWrite({ store }: TestNode, answer: (go: () => Promise<unknown>) => Promise<unknown>): void {
  store.script = (call, go) => {
    if (call !== 'compareAndSet') return go();
    store.script = undefined;
    return answer(go);
  };
}

/** A signal that aborts once the next write is done, before the writer gets its answer. */
export function hangingUp(node: TestNode): AbortSignal {
  const clientAbort = new AbortController();
  onNextWrite(node, async (go) => {
    const done = await go();
    clientAbort.abort(new Error('hung up'));
    return done;
  });
  return clientAbort.signal;
}
