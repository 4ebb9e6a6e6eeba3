/**
 * Fault: the client sends null as a value of the type "null". A CP reference that was never written is not equal to
 *   this value. So a compare-and-set from null would return `false` for ever.
 * Upstream: not reported
 * Versions: 5.6, with members of 5.4.0; the same in 5.7.0. A client that is built differently is refused.
 * Shown by: verification/servers/contract/hazelcast-cp.spec.ts, "puts a key back that the map of keys lost"
 * Goes when: AtomicReference.compareAndSet(null, …) writes to a new reference.
 */
import type { IAtomicReference } from 'hazelcast-client';

type Reference = IAtomicReference<unknown>;

/** Used internals of a proxy. */
interface Inside {
  toData(value: unknown): unknown;
}

/** Makes the reference send null as absent data, which is the protocol's own null. */
export function sendingNull(reference: Reference): Reference {
  const proxy = reference as unknown as Inside;
  if (typeof proxy.toData !== 'function') {
    throw new Error("this version of hazelcast-client can't write the first text of a CP reference: use 5.6");
  }
  const toData = proxy.toData.bind(reference);
  proxy.toData = (value) => (value === null ? null : toData(value));
  return reference;
}
