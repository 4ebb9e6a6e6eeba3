import type { RecordPage } from '../../../core/store/store.js';

/**
 * Stores, compares and sets records in the cluster, with one implementation per kind of acquisition. Errors are the
 * client's own, and the store maps them. A GatekeeperError means that surely nothing was written.
 */
export interface Records {
  /** @returns the value under `key`, or null */
  get(key: string): Promise<unknown>;
  compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean>;
  /** @param after `next` of the page before; absent: the first page */
  page(prefix: string, after?: string): Promise<RecordPage>;
  readMany(keys: readonly string[]): Promise<Map<string, string>>;
}
