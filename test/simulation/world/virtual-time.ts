/** Something that happens at a moment of virtual time. */
export interface Happening {
  readonly at: number;
  /** In the order of planning among those of one moment. */
  readonly order: number;
  action: (() => void) | undefined;
}

/**
 * True time of a simulated world, in ms. It jumps from one happening to the next; in between the production code's
 * promises are run dry, so that the order of everything is decided by the seed alone.
 */
export class VirtualTime {
  #now = 0;
  #planned: Happening[] = [];
  #count = 0;

  get now(): number {
    return this.#now;
  }

  /** How many things happened: what a schedule costs. */
  get count(): number {
    return this.#count;
  }

  after(delay: number, action: () => void): Happening {
    const happening = { at: this.#now + Math.max(0, delay), order: this.#count++, action };
    this.#push(happening);
    return happening;
  }

  /**
   * Lets the world go on for `duration` ms, or until `isEnough`.
   *
   * @returns whether it was enough
   */
  async pass(duration: number, isEnough = () => false): Promise<boolean> {
    const until = this.#now + duration;
    await settled();
    for (let next = this.#planned[0]; next && next.at <= until; next = this.#planned[0]) {
      if (isEnough()) return true;
      this.#pop();
      if (!next.action) continue;
      this.#now = next.at;
      next.action();
      await settled();
    }
    this.#now = until;
    return isEnough();
  }

  #push(happening: Happening): void {
    const heap = this.#planned;
    let index = heap.push(happening) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (isBefore(heap[parent]!, happening)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = happening;
  }

  #pop(): void {
    const heap = this.#planned;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (isBefore(last, heap[child]!)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(one: Happening, other: Happening): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** All promises that could go on have gone on: Node runs what is left for the next tick once no promise is left to run. */
function settled(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
