import type { Bug } from './bug.js';

/** Mistakes with names that no code defines. */
export const ON_DEMAND_BUGS: readonly Bug[] = [
  {
    name: 'missing-shard-is-empty',
    why: 'a shard that is missing counts as empty: the permits that were lost with it are granted a second time',
    patches: [
      {
        file: 'lib/core/decision/shard-recovery.ts',
        find: 'return rewriteShard(found ? mergeShards(known, found) : known, { grace }, view, nonce);',
        replace:
          'const none = [...known.names.keys()].reduce((left, name) => left.without(name), known.names);\n' +
          '  return rewriteShard(found ?? { ...known, names: none }, grace ? {} : { grace }, view, nonce);',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'on-demand-shard-loss', within: 300, says: /S1/ },
  },
  {
    name: 'others-vanish',
    why: 'a write keeps only the name that it is about: permits of other names in the same shard vanish',
    patches: [
      {
        file: 'lib/core/decision/shard.ts',
        find: 'const others = shard.names.firstEnd > view.now ? shard.names : living(shard.names, view);',
        replace: 'const others = ShardNames.NONE;',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'on-demand', within: 300, says: /S1/ },
  },
  {
    name: 'claim-ignored',
    why: 'nodes whose code does not define a name use it in its shard, though it has a record of its own',
    patches: [
      {
        file: 'lib/core/cell/routed-cell.ts',
        find: 'if (shard.claims.has(name)) return { result: OWN };',
        replace: '',
      },
      {
        file: 'lib/core/cell/routed-cell.ts',
        find: 'return this.shards.isReady && this.#isClaimed ? this.route.own(this.name) : undefined;',
        replace: 'return undefined;',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'on-demand', within: 500, says: /S1/ },
  },
  {
    name: 'no-cap',
    why: 'a call may ask for any duration: a permit outlasts the grace of a shard that was lost',
    patches: [
      {
        file: 'lib/core/decision/shard.ts',
        find: 'if (asked === undefined || asked <= LONGEST_ON_DEMAND) return;',
        replace: 'if (LONGEST_ON_DEMAND > 0) return;',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'on-demand', within: 300, says: /S1/ },
  },
];
