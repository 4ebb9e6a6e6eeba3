import type { Bug } from './bug.js';

/** Mistakes in who may have a permit, and in what it is. */
export const PERMIT_BUGS: readonly Bug[] = [
  {
    name: 'release-without-id',
    why: 'a release frees the semaphore, whoever holds it now: one that comes late frees the next holder',
    patches: [
      {
        file: 'lib/decision/changes.ts',
        find: `  if (!record.permits.some((permit) => permit.id === permitId)) return undefined;
  const permits = record.permits.filter((permit) => permit.id !== permitId);`,
        replace: '  if (permitId === "") return undefined;\n  const permits = record.permits.slice(1);',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'unstable-nodes', within: 500, says: /S1/ },
  },
  {
    name: 'slot-without-count',
    why: 'the lowest free slot is enough to go by: there is always one',
    patches: [
      { file: 'lib/decision/decide.ts', find: '  if (held.length >= permits) return undefined;\n', replace: '' },
    ],
    layer: { kind: 'simulation', faultMix: 'none', within: 500, says: /S1/ },
  },
  {
    name: 'token-reset',
    why: 'tokens just count: with the data of the store their count is lost, and starts again',
    patches: [
      {
        file: 'lib/decision/token.ts',
        find: 'return Math.max(lastToken + 1, Math.floor(now) * PER_MS);',
        replace: 'return Math.max(lastToken + 1, Math.sign(now));',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'data-loss-and-crashes-strict', within: 500, says: /S2/ },
  },
  {
    name: 'refresh-changes-token',
    why: 'every write gets a new token, a refresh too: a holder fences itself off with the token that it still uses',
    patches: [
      {
        file: 'lib/decision/decide.ts',
        find: 'duration: expiresAt - view.now, asked };',
        replace: 'duration: expiresAt - view.now, asked, token: nextToken(record.lastToken, view.now) };',
      },
    ],
    layer: { kind: 'specs', title: 'properties', specs: ['test/decision/decide.properties.spec.ts'] },
  },
  {
    name: 'revived',
    why: 'keep-alive and extend() ask again for what has ended: the holder was told that it is over, and then it is not',
    patches: [
      { file: 'lib/permits/keep-alive.ts', find: '!isWanted || !this.lease.isHeld', replace: '!isWanted' },
      {
        file: 'lib/permits/held-leases.ts',
        find: '      if (!lease.isHeld) return { result: false };\n',
        replace: '',
      },
      {
        file: 'lib/permits/held-leases.ts',
        find: '    if (!lease.isHeld) {\n      void this.orphans.reclaim(permit.id, permit.duration);\n      return false;\n    }\n',
        replace: '',
      },
      {
        file: 'lib/permits/permit.ts',
        find: 'return this.isHeld && this.owner.refresh(this.lease, duration);',
        replace: 'return this.owner.refresh(this.lease, duration);',
      },
      {
        file: 'lib/permits/lease.ts',
        find: '    this.#uncertain = undefined;\n  }\n\n  /** Ends',
        replace: '    this.#uncertain = undefined;\n    this.#end = undefined;\n  }\n\n  /** Ends',
      },
    ],
    layer: {
      kind: 'specs',
      title: 'unit',
      specs: ['test/permits/lease-end.spec.ts', 'test/permits/permits.spec.ts'],
    },
  },
];
