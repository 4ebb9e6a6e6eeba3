import type { Attributes } from '@opentelemetry/api';

interface Count {
  readonly attributes: Attributes;
  count: number;
}

/** Counts work that goes on, by its attributes. Work that has ended stays with the count 0. */
export class ActiveWork {
  readonly #counts = new Map<string, Count>();

  /** @param attributes always with the same order of keys */
  add(attributes: Attributes, change: 1 | -1): void {
    const key = JSON.stringify(attributes);
    const known = this.#counts.get(key);
    if (known) known.count += change;
    else this.#counts.set(key, { attributes, count: change });
  }

  get counts(): Iterable<Readonly<Count>> {
    return this.#counts.values();
  }
}
