import type { FaultMix } from './kind/fault-mix.js';
import type { SimNode } from './machines/node.js';
import type { World } from './world/world.js';

/** ms within which a call that meets no fault is done. */
export const SOON = 5000;
/** ms until each node has looked for what the store lacks. */
export const LONGEST_SWEEP = 11_000;

/** ms by which clocks of the store may be set back. */
export function setBackOf({ clockJumps }: FaultMix): number {
  return Math.max(0, ...clockJumps.map((jump) => -jump));
}

/** Checks that a node gets something done within a time (ms). */
export async function expectDone(
  { time, checker, trace }: World,
  node: SimNode,
  what: string,
  within: number,
  work: (node: SimNode) => Promise<unknown>,
): Promise<void> {
  let isDone = false;
  trace.note(node.name, () => what);
  work(node)
    .catch((error: Error) => checker.violated(`S5 ${node.name} ${what}: ${error.stack}`))
    .finally(() => (isDone = true));
  if (!(await time.pass(within, () => isDone))) checker.violated(`S5 ${node.name} ${what}: not within ${within} ms`);
}
