import type { RecordPage } from '../../store.js';

/**
 * How records are stored, compared and set in the cluster: one implementation per kind of acquisition. Errors are the
 * client's own, which the store maps. An error of Gatekeeper means that surely nothing was written.
 */
export interface Records {
  /** @returns the value under `key`, or null */
  get(key: string): Promise<unknown>;
  compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean>;
  /** @param after `next` of the page before; absent: the first page */
  page(prefix: string, after?: string): Promise<RecordPage>;
  readMany(keys: readonly string[]): Promise<Map<string, string>>;
}
