import type { Bug } from './bug.js';

/** Mistakes of a store, or in what is believed of it. */
export const STORE_BUGS: readonly Bug[] = [
  {
    name: 'no-compare',
    why: '"set" instead of "compare and set": two nodes that read the same record both write their grant',
    patches: [
      {
        file: 'test/simulation/store/store-cluster.ts',
        find: 'if (texts.get(key) !== expected',
        replace: 'if (texts.get(key) !== expected && Boolean(undefined)',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'unstable-nodes', within: 500, says: /S1/ },
  },
  {
    name: 'no-compare-memory',
    why: 'the same in the store in memory',
    patches: [
      {
        file: 'lib/stores/memory/memory-cluster.ts',
        find: 'if (this.texts.get(key) !== expected) return false;',
        replace: '',
      },
    ],
    layer: { kind: 'specs', title: 'contract', specs: ['test/contract/memory-store.spec.ts'] },
  },
  {
    name: 'no-compare-hazelcast',
    why: 'the same on real members: map.set() where replaceIfSame() must be',
    patches: [
      {
        file: 'lib/stores/hazelcast/records/map-records.ts',
        find: 'this.map.replaceIfSame(key, expected, next);',
        replace: 'this.map.set(key, next).then(() => true);',
      },
    ],
    layer: { kind: 'specs', title: 'contract on real members', specs: ['test/contract/hazelcast-store.spec.ts'] },
  },
  {
    name: 'quorum-ignored',
    why: 'the quorum is an option that nobody looks at: both sides of a split network grant',
    patches: [
      {
        file: 'lib/stores/hazelcast/hazelcast.store.ts',
        find: 'if (members < quorum && !this.#closing) throw this.#withoutQuorum(members);',
        replace: 'if (members < 0) throw this.#withoutQuorum(members);',
      },
    ],
    layer: { kind: 'specs', title: 'quorum on real members', specs: ['test/contract/hazelcast-quorum.spec.ts'] },
  },
  {
    name: 'unsure-is-granted',
    why: '"the write was sent, so it will have got there": a write whose answer was lost counts as done',
    patches: [
      {
        file: 'lib/records/record-client.ts',
        find: 'if (attempt.isUncertain) return false;\n      if (error instanceof DeadlinePassed) throw this',
        replace: 'if (attempt.isUncertain) return true;\n      if (error instanceof DeadlinePassed) throw this',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'lossy', within: 500, says: /S1/ },
  },
  {
    name: 'late-grant-kept',
    why: 'the answer came, so the permit is ours, however late it came',
    patches: [{ file: 'lib/permits/held-leases.ts', find: '    if (!lease.isHeld) return undefined;\n', replace: '' }],
    layer: { kind: 'simulation', faultMix: 'slow', within: 500, says: /when it was over|no such lease|S1/ },
  },
  {
    name: 'late-grant-not-given-back',
    why: 'a call that timed out is over: nobody takes back what its write may still bring',
    patches: [
      {
        file: 'lib/permits/held-leases.ts',
        find: 'void this.orphans.reclaim(permitId, duration);',
        replace: '',
      },
    ],
    layer: { kind: 'specs', title: 'unit', specs: ['test/records/unclear-answers.spec.ts'] },
  },
  {
    name: 'lost-data-believed',
    why: 'what the store says is so: a record that is gone, or older than what was known, is taken as it is',
    patches: [
      {
        file: 'lib/records/record-client.ts',
        find: 'if (!furthest || (record && !this.codec.isBehind(record, furthest))) return',
        replace: 'if (!furthest || text || !text) return',
      },
    ],
    layer: { kind: 'specs', title: 'unit', specs: ['test/records/store-care.spec.ts'] },
  },
  {
    name: 'not-queued',
    why: 'calls of one process for one semaphore overtake one another: a release frees what a refresh just kept',
    patches: [
      {
        file: 'lib/async/serial-queue.ts',
        find: 'if (this.#isBusy) await this.#turn(signal);',
        replace: 'if (signal?.aborted) await this.#turn(signal);',
      },
    ],
    layer: {
      kind: 'specs',
      title: 'unit',
      specs: ['test/permits/acquire.spec.ts', 'test/permits/runs/runs.spec.ts'],
    },
  },
  {
    name: 'no-grace',
    why: 'what is put back after lost data is complete: holders that nobody heard of are forgotten',
    patches: [
      {
        file: 'lib/decision/recovery.ts',
        find: 'return rewrite(merged, { grace }, view, nonce);',
        replace: 'return rewrite(merged, grace ? {} : {}, view, nonce);',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'data-loss', within: 500, says: /S1/ },
  },
];
