/**
 * How records lie in the cluster and how a compare-and-set of one is done: what differs between the acquisitions that
 * the store offers. Errors are the client's own, which the store translates; only what is known better here (surely
 * nothing was written) is told by an error of Gatekeeper's.
 */
export interface Records {
  /** @returns what lies under `key`, or null */
  get(key: string): Promise<unknown>;
  compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean>;
  list(prefix: string): Promise<Map<string, string>>;
}
