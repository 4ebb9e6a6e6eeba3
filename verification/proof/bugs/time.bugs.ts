import type { Bug } from './bug.js';

/** Mistakes in the end of a permit, for its holder or for takers. */
export const TIME_BUGS: readonly Bug[] = [
  {
    name: 'own-wall-clock',
    why: 'each node uses its own wall clock instead of cluster time: a node whose clock is ahead takes over permits that are still held',
    patches: [
      { file: 'lib/core/clock/cluster-clock.ts', find: 'Math.floor(at + lowest)', replace: 'this.node.wall()' },
      {
        file: 'lib/core/clock/cluster-clock.ts',
        find: 'return Math.floor(at + this.#clocks.highest(at));',
        replace: 'return this.node.wall();',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'unstable-nodes', within: 500, says: /S1/ },
  },
  {
    name: 'no-sandwich',
    why: 'cluster time alone decides when a lease is over: a clock that jumps ahead ends it early',
    patches: [
      {
        file: 'lib/core/clock/lease-expiry.ts',
        find: 'return Math.min(notAfter - at, Math.max(notBefore - at, this.#untilExpiryByClusterTime(lease)));',
        replace:
          'return 0 * (notAfter + notBefore + at) + lease.expiresAt + this.tolerance - this.clusterClock.earliest();',
      },
      { file: 'lib/core/clock/lease-expiry.ts', find: 'at < end.notBefore || ', replace: '' },
    ],
    layer: { kind: 'simulation', faultMix: 'clocks-strict', within: 500, says: /S1/ },
  },
  {
    name: 'not-all-heard',
    why: 'cluster time counts before all members were heard: a node that heard only a clock that is ahead takes over too early',
    patches: [
      {
        file: 'lib/core/clock/cluster-clock.ts',
        find: 'return !this.#rounds.unheard && this.#suspicion',
        replace: 'return this.#suspicion',
      },
    ],
    layer: { kind: 'specs', title: 'unit', specs: ['test/core/clock/suspicion.spec.ts'] },
  },
  {
    name: 'no-tolerance-for-takers',
    why: "takers don't wait for the tolerance, neither by cluster time nor by their own clock",
    patches: [
      {
        file: 'lib/core/clock/lease-expiry.ts',
        find: 'this.#untilExpiry(lease) + this.tolerance : Infinity;',
        replace: 'this.#untilExpiry(lease) + 0 * this.tolerance : Infinity;',
      },
      {
        file: 'lib/core/clock/lease-observations.ts',
        find: 'notAfter: firstSeen + duration + this.tolerance',
        replace: 'notAfter: firstSeen + duration',
      },
    ],
    layer: {
      kind: 'specs',
      title: 'unit',
      specs: ['test/core/clock/lease-expiry.spec.ts', 'test/core/clock/lease-observations.spec.ts'],
    },
  },
  {
    name: 'no-tolerance-at-all',
    why: 'neither holders nor takers keep a tolerance: one ends at the moment at which the other begins',
    patches: [
      {
        file: 'lib/core/clock/lease-expiry.ts',
        find: 'this.#untilExpiry(lease) + this.tolerance : Infinity;',
        replace: 'this.#untilExpiry(lease) + 0 * this.tolerance : Infinity;',
      },
      {
        file: 'lib/core/clock/lease-observations.ts',
        find: 'notAfter: firstSeen + duration + this.tolerance',
        replace: 'notAfter: firstSeen + duration',
      },
      {
        file: 'lib/core/permits/lease.ts',
        find: 'return this.#permit.duration - timing.clockTolerance - Math.max(monotonic, wall);',
        replace: 'return this.#permit.duration - Math.max(monotonic, wall) + 0 * timing.clockTolerance;',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'clocks-drift', within: 500, says: /S1/ },
  },
  {
    name: 'counts-from-answer',
    why: 'the lease counts from the answer: the holder counts on it too long, by the time that the answer took',
    patches: [
      {
        file: 'lib/core/cell/cell.ts',
        find: 'done: () => done(sent),',
        replace: 'done: () => done({ ...sent, monotonic: nodeClock.monotonic(), wall: nodeClock.wall() }),',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'slow', within: 6000, says: /S1/ },
  },
  {
    name: 'monotonic-clock-only',
    why: 'the holder uses only its monotonic clock, which does not advance while the machine sleeps',
    patches: [
      {
        file: 'lib/core/permits/lease.ts',
        find: 'timing.clockTolerance - Math.max(monotonic, wall);',
        replace: 'timing.clockTolerance - Math.max(monotonic, 0 * wall);',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'unstable-nodes', within: 3000, says: /S1|S4/ },
  },
  {
    name: 'no-clock-at-all',
    why: 'a holder never looks at a clock: it counts on its permit until the release',
    patches: [
      {
        file: 'lib/core/permits/lease.ts',
        find: 'timing.clockTolerance - Math.max(monotonic, wall);',
        replace: 'timing.clockTolerance - 0 * Math.max(monotonic, wall);',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'unstable-nodes', within: 500, says: /S1/ },
  },
  {
    name: 'told-by-timer-only',
    why: 'only a timer ends the lease: after a freeze, the first check still says "held"',
    patches: [
      {
        file: 'lib/core/permits/lease.ts',
        find: "    if (!this.#end && this.remaining <= 0) this.finish('expired');\n    return this.#end;",
        replace: '    return this.#end;',
      },
      {
        file: 'lib/core/permits/lease.ts',
        find: '    if (this.isHeld) this.#cancelTimer = this.#lookAgain();',
        replace:
          "    if (this.remaining <= 0) this.finish('expired');\n    if (this.isHeld) this.#cancelTimer = this.#lookAgain();",
      },
    ],
    layer: { kind: 'specs', title: 'unit', specs: ['test/core/permits/lease-end.spec.ts'] },
  },
  {
    name: 'ends-alike',
    why: 'two refreshes of one text get the same end if a clock ahead stamped it: if the store loses the first, takers count from it',
    patches: [
      {
        file: 'lib/core/decision/decide.ts',
        find: '{ expiresAt: held.expiresAt + 1, duration, nonce };',
        replace: '{ expiresAt: held.expiresAt + 1, duration };',
      },
    ],
    layer: {
      kind: 'specs',
      title: 'properties',
      specs: ['test/core/decision/stamped-ahead.spec.ts', 'test/core/decision/set-back.spec.ts'],
    },
  },
  {
    name: 'lasts-by-the-stamp',
    why: 'a grace lasts until the end of all permits: if a clock that jumped ahead stamped one, no node gets a permit as much longer',
    patches: [
      {
        file: 'lib/core/decision/recovery.ts',
        find: 'return { id: `grace-${nonce}`, expiresAt, duration };',
        replace: 'return { id: `grace-${nonce}`, expiresAt, duration: expiresAt - now };',
      },
    ],
    layer: {
      kind: 'specs',
      title: 'unit',
      specs: ['test/core/decision/stamped-ahead.spec.ts', 'test/core/cell/restored-ahead.spec.ts'],
    },
  },
];
