import type { Bug } from './bug.js';

/** Mistakes in a store, or in the trust in its answers. */
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
    why: 'the same mistake in the memory store',
    patches: [
      {
        file: 'lib/stores/memory/text-table.ts',
        find: 'if (this.texts.get(key) !== expected) return false;',
        replace: '',
      },
    ],
    layer: { kind: 'specs', title: 'contract', specs: ['test/contract/memory-store.spec.ts'] },
  },
  {
    name: 'no-compare-hazelcast',
    why: 'the same mistake on real members: map.set() instead of replaceIfSame()',
    patches: [
      {
        file: 'lib/stores/hazelcast/texts/map-texts.ts',
        find: 'this.map.replaceIfSame(key, expected, next);',
        replace: 'this.map.set(key, next).then(() => true);',
      },
    ],
    layer: {
      kind: 'specs',
      title: 'contract on real members',
      specs: ['verification/servers/contract/hazelcast-store.spec.ts'],
    },
  },
  {
    name: 'quorum-ignored',
    why: 'the quorum option has no effect: both sides of a split network grant',
    patches: [
      {
        file: 'lib/stores/hazelcast/calls.ts',
        find: 'if (members < quorum && !isClosed) throw this.#withoutQuorum(members);',
        replace: 'if (members < 0) throw this.#withoutQuorum(members);',
      },
    ],
    layer: {
      kind: 'specs',
      title: 'quorum on real members',
      specs: ['verification/servers/contract/hazelcast-quorum.spec.ts'],
    },
  },
  {
    name: 'unsure-is-granted',
    why: 'a write whose answer was lost counts as done',
    patches: [
      {
        file: 'lib/core/cell/cell.ts',
        find: 'call.failed(sent, error);\n        return this.#tryAgain(call);',
        replace: 'call.failed(sent, error);\n        return sent.done();',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'lossy', within: 500, says: /S1/ },
  },
  {
    name: 'late-grant-kept',
    why: 'a grant whose answer comes too late is kept',
    patches: [
      {
        file: 'lib/core/permits/held-leases.ts',
        find: '    if (!lease.isHeld) return void this.orphans.reclaim(permit.id);\n',
        replace: '',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'slow', within: 500, says: /when it was over|no such lease|S1/ },
  },
  {
    name: 'late-grant-not-given-back',
    why: 'after a call timed out, no node takes back the permit that its write may still bring',
    patches: [
      {
        file: 'lib/core/permits/held-leases.ts',
        find: 'this.orphans.reclaim(permitId, duration);',
        replace: '',
      },
    ],
    layer: { kind: 'specs', title: 'unit', specs: ['test/core/cell/unclear-answers.spec.ts'] },
  },
  {
    name: 'lost-data-believed',
    why: 'a record that is missing, or older than the known one, is accepted as it is',
    patches: [
      {
        file: 'lib/core/cell/cell.ts',
        find: 'if (!furthest || isWhole) return',
        replace: 'if (!furthest || isWhole || !isLost) return',
      },
    ],
    layer: { kind: 'specs', title: 'unit', specs: ['test/core/cell/store-care.spec.ts'] },
  },
  {
    name: 'not-queued',
    why: 'calls of one process for one semaphore overtake each other: a release frees a permit that was just refreshed',
    patches: [
      {
        file: 'lib/core/async/serial-executor.ts',
        find: 'return this.#isBusy ? this.#turn()',
        replace: 'return this.#waiting.length > 0 ? this.#turn()',
      },
    ],
    layer: {
      kind: 'specs',
      title: 'unit',
      specs: ['test/core/permits/acquire.spec.ts', 'test/core/permits/runs/runs.spec.ts'],
    },
  },
  {
    name: 'no-grace',
    why: 'lost data are restored without a grace: holders that no node heard of are forgotten',
    patches: [
      {
        file: 'lib/core/decision/recovery.ts',
        find: 'const restored = rewrite(merged, { grace }, view, nonce);',
        replace: 'const restored = rewrite(merged, grace ? {} : {}, view, nonce);',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'data-loss', within: 500, says: /S1/ },
  },
  {
    name: 'doubt-ignored',
    why: 'a record of a server that took over with old data is accepted like any other: its lost permits are granted again',
    patches: [
      {
        file: 'lib/core/cell/cell.ts',
        find: 'const isLost = isDoubted(text);',
        replace: 'const isLost = isDoubted(undefined);',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'failover', within: 500, says: /S1/ },
  },
  {
    name: 'server-not-compared',
    why: 'a write to Redis does not look whether another server has taken over: it follows from an old text',
    patches: [
      {
        file: 'lib/stores/redis/scripts.ts',
        find: "compareAndSet('mark(index, origin)')",
        replace: "compareAndSet('nil')",
      },
    ],
    layer: { kind: 'specs', title: 'a real Redis', specs: ['verification/servers/contract/redis-doubt.spec.ts'] },
  },
  {
    name: 'timeline-not-compared',
    why: 'a write to PostgreSQL does not look whether a replica has taken over: it follows from an old text',
    patches: [
      {
        file: 'lib/stores/postgres/texts/text-statements.ts',
        find: "AND ${seen} OPERATOR(pg_catalog.=) $2::pg_catalog.text AND ${settings('$4')}",
        replace: "AND text OPERATOR(pg_catalog.=) $2::pg_catalog.text AND ${settings('$4')}",
      },
    ],
    layer: {
      kind: 'specs',
      title: 'a real PostgreSQL',
      specs: ['verification/servers/contract/postgres-doubt.spec.ts'],
    },
  },
  {
    name: 'timeline-not-compared-together',
    why: 'writes that share a statement of PostgreSQL do not look whether a replica has taken over',
    patches: [
      {
        file: 'lib/stores/postgres/texts/text-statements.ts',
        find: 'AND ${seen} OPERATOR(pg_catalog.=) each.former`;',
        replace: 'AND found.text OPERATOR(pg_catalog.=) each.former`;',
      },
    ],
    layer: {
      kind: 'specs',
      title: 'a real PostgreSQL',
      specs: ['verification/servers/contract/postgres-doubt.spec.ts'],
    },
  },
  {
    name: 'seal-not-checked',
    why: 'a node believes a hint with any seal: a program that may only send to the channel has a forged record restored into the store',
    patches: [
      {
        file: 'lib/core/store/message-seals.ts',
        find: "if (!areEqual(mac, macOf(this.#key, scope, seal.slice(MAC), body))) return 'unproven';",
        replace: '',
      },
    ],
    layer: { kind: 'specs', title: 'seals of hints', specs: ['test/core/store/message-seals.spec.ts'] },
  },
  {
    name: 'counts-without-room',
    why: 'a node writes a count that no node reads: the semaphore grants nothing for ever',
    patches: [
      {
        file: 'lib/core/cell/cell.ts',
        find: 'if (isCountable(step.write)) return step;',
        replace: 'if (isCountable(step.write) || Boolean(step)) return step;',
      },
    ],
    layer: { kind: 'specs', title: 'damaged records', specs: ['test/core/cell/damaged-records.spec.ts'] },
  },
];
