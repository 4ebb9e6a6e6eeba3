import type { Bug, Layer } from './bug.js';

const simulation: Layer = {
  kind: 'specs',
  title: 'simulation of the allocation protocol',
  specs: ['test/allocation/protocol-simulation.spec.ts'],
};

/** Mistakes in the protocol that divides resources over nodes. Some of them were made in its first drafts. */
export const ALLOCATION_BUGS: readonly Bug[] = [
  {
    name: 'one-phase-moves',
    why: 'a resource that was taken away is granted at once: its former owner still works on it',
    patches: [
      {
        file: 'lib/allocation/round/owner-map.ts',
        find: '    if (isFree(withdrawal)) isChanged = true;',
        replace: '    if (isFree(withdrawal) || seq > 0) isChanged = true;',
      },
    ],
    layer: simulation,
  },
  {
    name: 'skipped-root-acknowledged',
    why: 'a node counts a revocation from the root in which it noticed it: it acknowledges one that it skipped too early',
    patches: [
      {
        file: 'lib/allocation/node/belief.ts',
        find: 'applied?.born === root.born ? Math.min(applied.seq + 1, root.seq) : root.seq;',
        replace: 'root.seq;',
      },
    ],
    layer: simulation,
  },
  {
    name: 'acknowledged-before-callback',
    why: 'a node acknowledges a revocation while its callback still runs',
    patches: [
      {
        file: 'lib/allocation/node/belief.ts',
        find: 'Math.min(applied.seq, ...ending.map(({ seq }) => seq - 1))',
        replace: 'Math.max(applied.seq, ...ending.map(() => 0))',
      },
    ],
    layer: simulation,
  },
  {
    name: 'absent-is-over',
    why: 'a node without an entry in the registry counts as over at once: the store may have lost the entry',
    patches: [
      {
        file: 'lib/allocation/round/registry-view.ts',
        find: 'return !ended.has(inc) && !living.has(inc) && !vanished.has(inc);',
        replace: 'return !ended.has(inc) && !living.has(inc) && vanished !== undefined;',
      },
      {
        file: 'lib/allocation/round/registry-view.ts',
        find: 'isAbsent(view, inc) && view.readFrom >= absentAreOverAt(view, bound)',
        replace: 'isAbsent(view, inc) && absentAreOverAt(view, bound) > 0',
      },
    ],
    layer: simulation,
  },
  {
    name: 'restored-without-grace',
    why: 'a root that replaces a lost one has no grace: nodes still own by the lost root what it grants to others',
    patches: [{ file: 'lib/allocation/map/root.ts', find: '    grace: true,', replace: '    grace: false,' }],
    layer: simulation,
  },
  {
    name: 'grace-without-acknowledgements',
    why: 'a grace ends by time alone: a node whose callback still runs has not given up what it had',
    patches: [
      {
        file: 'lib/allocation/round/plan-round.ts',
        find: '[...registry.living.values()].every(hasGivenUp)',
        replace: '[...registry.living.values()].filter(hasGivenUp).length >= 0',
      },
    ],
    layer: { kind: 'specs', title: 'traps of the allocation protocol', specs: ['test/allocation/plan-round.spec.ts'] },
  },
  {
    name: 'absent-lease-forgotten',
    why: 'the longest lease of a former owner map is forgotten while a member without an entry may still have it',
    patches: [
      {
        file: 'lib/allocation/round/next-root.ts',
        find: '...(isKnown ? [] : [root.lease])',
        replace: '...(isKnown ? [] : [0])',
      },
    ],
    layer: { kind: 'specs', title: 'longest lease of an owner map', specs: ['test/allocation/longest-lease.spec.ts'] },
  },
  {
    name: 'lost-page-is-free',
    why: 'resources of a page that the store lost are granted at once: their owner still believes in them',
    patches: [
      {
        file: 'lib/allocation/round/owner-map.ts',
        find: '...suspects.map(([from]) => ({ from, seq: next }))];',
        replace: '...suspects.slice(suspects.length).map(([from]) => ({ from, seq: next }))];',
      },
    ],
    layer: simulation,
  },
];
