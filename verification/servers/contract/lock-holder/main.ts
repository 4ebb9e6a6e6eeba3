import { Client, type IMap } from 'hazelcast-client';
import { writeFailure } from '../../../../lib/stores/hazelcast/failures.js';
import { LockedRecords } from '../../../../lib/stores/hazelcast/texts/locked-records.js';

/** A compare-and-set by the store's own code that is interrupted between its lock and its write. */
export interface LockHolderOrder {
  readonly clusterName: string;
  readonly members: readonly string[];
  readonly key: string;
  readonly expected: string;
  readonly next: string;
  /** Fault of this process while it holds the lock. */
  readonly signal: 'SIGKILL' | 'SIGSTOP';
}

const order = JSON.parse(process.argv[2]!) as LockHolderOrder;
const client = await Client.newHazelcastClient({
  clusterName: order.clusterName,
  network: { clusterMembers: [...order.members] },
  properties: { 'hazelcast.logging.level': 'OFF' },
});
const map = await client.getMap<string, unknown>('gatekeeper.records');
const records = new LockedRecords(interrupted(map), client, {
  callTimeout: 2000,
  ended: new AbortController().signal,
});
const answer = await records
  .compareAndSet(order.key, order.expected, order.next)
  .catch((error: unknown) => writeFailure(error).code);
console.log(`answer: ${answer}`);
await client.shutdown();

function interrupted(real: IMap<string, unknown>): IMap<string, unknown> {
  const write = real.replaceIfSame.bind(real);
  real.replaceIfSame = (...args) => {
    console.log('locked');
    process.kill(process.pid, order.signal);
    return write(...args);
  };
  return real;
}
