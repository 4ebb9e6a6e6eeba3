import type { TextEntry } from '../../../core/store/task-storage.js';
import { OrderedTexts } from './ordered-texts.js';

/** Texts under keys, with their order. Synchronous, so nothing can happen between a comparison and its write. */
export class TextTable {
  readonly #texts = new Map<string, string>();
  readonly #ordered = new OrderedTexts();
  /** Called with each text that is written. For tests. */
  onWrite?: (text: string) => void;

  get(key: string): string | undefined {
    return this.#texts.get(key);
  }

  /** @returns undefined if the text was written, otherwise the text that is there */
  create(key: string, text: string): string | undefined {
    const found = this.#texts.get(key);
    if (found === undefined) this.#put(key, text);
    return found;
  }

  replace(key: string, expected: string, next: string): boolean {
    if (!this.remove(key, expected)) return false;
    this.#put(key, next);
    return true;
  }

  remove(key: string, expected: string): boolean {
    if (this.#texts.get(key) !== expected) return false;
    this.#texts.delete(key);
    this.#ordered.delete({ key, text: expected });
    return true;
  }

  range(from: string, to: string, limit: number): TextEntry[] {
    return this.#ordered.range(from, to, limit);
  }

  #put(key: string, text: string): void {
    this.#texts.set(key, text);
    this.#ordered.add({ key, text });
    this.onWrite?.(text);
  }
}
