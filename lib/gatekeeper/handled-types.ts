import type { NodeRegistry } from '../operate/activity/index.js';
import type { Context } from '../core/context/context.js';
import { groupType } from '../tasks/task-id.js';

/** ms between two readings of the nodes, which are made only while types are asked for that are not known. */
const PAUSE = 30_000;

/**
 * The types of tasks that the nodes of the cluster handle, and that code of this node submits. Programs may name any type, so other names must not come into the
 * metrics, of which the number of names is limited.
 */
export class HandledTypes {
  #readAt = -Infinity;

  constructor(
    private readonly context: Pick<Context, 'nodeClock' | 'isClosing'>,
    private readonly registry: Pick<NodeRegistry, 'known' | 'nodes'>,
    private readonly isOfCode: (type: string) => boolean,
  ) {}

  /** As this node knows it. Does not wait for the store: a type that another node has just begun to handle is known later. */
  has(type: string): boolean {
    const wanted = groupType(type);
    if (this.isOfCode(wanted)) return true;
    const isKnown = this.registry.known.some(({ tasks = [] }) =>
      tasks.some((each) => each.type === wanted && each.handles !== 'programs'),
    );
    if (!isKnown) this.#read();
    return isKnown;
  }

  #read(): void {
    const { nodeClock, isClosing } = this.context;
    const now = nodeClock.monotonic();
    if (now - this.#readAt < PAUSE || isClosing()) return;
    this.#readAt = now;
    // The registry itself reports that it can't be read. Until then the names stay out of the metrics.
    this.registry.nodes().catch(() => undefined);
  }
}
