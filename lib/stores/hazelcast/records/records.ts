import type { RecordPage } from '../../store.js';

/**
 * The way in which records lie in the cluster and are compared and set: one implementation per acquisition. Errors are
 * the client's own, which the store translates; an error of Gatekeeper's means that surely nothing was written.
 */
export interface Records {
  /** @returns what lies under `key`, or null */
  get(key: string): Promise<unknown>;
  compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean>;
  /** @param after `next` of the page before; absent: the first page */
  page(prefix: string, after?: string): Promise<RecordPage>;
  readMany(keys: readonly string[]): Promise<Map<string, string>>;
}
