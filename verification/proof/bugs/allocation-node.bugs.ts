import type { Bug } from './bug.js';

/** Mistakes in the part of the allocation that reads, writes and tells the application. */
export const ALLOCATION_NODE_BUGS: readonly Bug[] = [
  {
    name: 'owns-without-lease',
    why: 'a node counts on its resources without looking at its membership lease: others get them after its end',
    patches: [
      {
        file: 'lib/allocation/node/node-share.ts',
        find: 'return this.#belief.inc === this.membership.incarnation;',
        replace: "return this.#belief.inc !== '';",
      },
    ],
    layer: { kind: 'allocation', faults: ['freeze', 'cut'], within: 40, says: /A1/ },
  },
  {
    name: 'root-not-confirmed',
    why: 'a node acts on an owner map that only one member may have: the next leader does not know of it',
    patches: [
      {
        file: 'lib/allocation/map-store.ts',
        find: 'return this.#confirmed === nonce;',
        replace: 'return true;',
      },
    ],
    layer: { kind: 'allocation', faults: ['hostDies', 'leave'], within: 400, says: /A1/ },
  },
  {
    name: 'given-back-before-callback',
    why: 'a revoked resource is given back before the callback and the work on it have ended',
    patches: [
      {
        file: 'lib/allocation/node/delivery.ts',
        find: 'await this.#call(told, difference);',
        replace: 'void this.#call(told, difference);',
      },
    ],
    layer: { kind: 'allocation', faults: ['leave', 'longWork'], within: 40, says: /A1/ },
  },
  {
    name: 'work-goes-on',
    why: 'a node that shuts down does not end its work on resources: another node gets them meanwhile',
    patches: [
      {
        file: 'lib/allocation/node/node-share.ts',
        find: 'this.isHeld && !this.#isGivingUp ?',
        replace: 'this.isHeld ?',
      },
    ],
    layer: { kind: 'allocation', faults: ['leave', 'longWork'], within: 40, says: /A1/ },
  },
  {
    name: 'clocks-not-asked',
    why: 'a lease ends by clocks that were asked before it was seen: the clock that stamped it was set back since',
    patches: [
      {
        file: 'lib/allocation/round/registry-watch.ts',
        find: 'const isProven = byClusterTime > 0 || sampledAt >= lease.firstSeen;',
        replace: 'const isProven = byClusterTime > 0 || sampledAt > -Infinity;',
      },
    ],
    layer: { kind: 'specs', title: 'watched leases', specs: ['test/allocation/registry-watch.spec.ts'] },
  },
  {
    name: 'missing-page-is-empty',
    why: 'a page that the store lost counts as empty: its resources are given back without need',
    patches: [
      {
        file: 'lib/allocation/node/belief.ts',
        find: 'if (missing.length > 0 && !root.grace) return { ...nothing, missing };',
        replace: '',
      },
    ],
    layer: { kind: 'specs', title: "the node's belief", specs: ['test/allocation/belief.spec.ts'] },
  },
  {
    name: 'ends-ignored',
    why: 'the end of a lease that a node announces is ignored: after a shutdown, its resources wait for the lease to end',
    patches: [
      {
        file: 'lib/allocation/round/group-registry.ts',
        find: 'return [...left, ...present.flatMap(({ former }) => former ?? [])];',
        replace: 'return left.slice(left.length);',
      },
    ],
    layer: {
      kind: 'specs',
      title: 'division over real nodes',
      specs: ['test/allocation/division.spec.ts'],
    },
  },
  {
    name: 'slot-of-newer-root',
    why: 'the leader overwrites pages without reading the root again: a newer root has pages in these slots',
    patches: [
      {
        file: 'lib/allocation/map-store.ts',
        find: 'if (pages.length > 0 && (await this.readRoot()).text !== expected.text) return false;',
        replace: '',
      },
    ],
    layer: { kind: 'specs', title: 'owner map in the store', specs: ['test/allocation/map-store.spec.ts'] },
  },
  {
    name: 'page-in-used-slot',
    why: 'a page of an older root is put back over a page of the present one, because a node once missed it',
    patches: [
      {
        file: 'lib/allocation/round/owner-map.ts',
        find: "filter((entry) => members.get(entry.inc)?.includes(entry.missing ?? ''));",
        replace: 'filter((entry) => members.has(entry.inc) && entry.missing !== undefined);',
      },
    ],
    layer: { kind: 'specs', title: 'owner map in the store', specs: ['test/allocation/map-store.spec.ts'] },
  },
  {
    name: 'restored-page-trusted',
    why: 'a restored page of the members is not watched anew: leases in it look older than they are',
    patches: [
      {
        file: 'lib/allocation/round/registry-watch.ts',
        find: 'const isGoingOn = former?.born === page?.born && (page?.seq ?? 0) >= (former?.seq ?? 0);',
        replace: 'const isGoingOn = former !== undefined;',
      },
    ],
    layer: {
      kind: 'specs',
      title: 'watched leases',
      specs: ['test/allocation/registry-watch.spec.ts'],
    },
  },
  {
    name: 'map-without-time',
    why: 'a leader writes an owner map while it does not know cluster time: no node can read it',
    patches: [
      {
        file: 'lib/allocation/map-store.ts',
        find: 'if (!clusterClock.isFresh)\n',
        replace: 'if (clusterClock.sampledAt > Infinity)\n',
      },
    ],
    layer: { kind: 'specs', title: 'division over real nodes', specs: ['test/allocation/division.spec.ts'] },
  },
  {
    name: 'leader-without-group',
    why: 'the leader decides, whatever groups it has: a group that it does not have is never divided',
    patches: [
      {
        file: 'lib/allocation/mandate.ts',
        find: 'if (candidates.some(({ instance }) => instance === leader)) return leader;',
        replace: 'if (candidates.length >= 0) return leader;',
      },
    ],
    layer: { kind: 'allocation', faults: ['leave'], within: 40, says: /A3/ },
  },
  {
    name: 'deputy-by-own-clock',
    why: 'the deputy of a leader without the group takes the leader for gone when the clocks of the members were set back',
    patches: [
      {
        file: 'lib/allocation/mandate.ts',
        find: 'return (term?.stored ?? recorded)?.instance;',
        replace: 'return (term?.stored ?? (recorded && this.parts.candidate.leader))?.instance;',
      },
    ],
    layer: { kind: 'allocation', faults: ['allClocksBack', 'crash'], within: 300, says: /A3/ },
  },
];
