import type { Bug } from './bug.js';

/** Mistakes with membership leases: counted on for too long by their own node, or judged too early by the others. */
export const MEMBERSHIP_BUGS: readonly Bug[] = [
  {
    name: 'membership-from-answer',
    why: 'a membership lease counts from the answer to its renewal: a node counts on it when others may judge it to be over',
    patches: [
      {
        file: 'lib/core/members/local-member.ts',
        find: 'if (sent) own.renew(sent);',
        replace:
          'const { nodeClock } = this.context;\n      if (sent) own.renew({ ...sent, monotonic: nodeClock.monotonic(), wall: nodeClock.wall() });',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'slow', members: true, within: 500, says: /M4/ },
  },
  {
    name: 'membership-revived',
    why: 'a lapsed membership lease is continued by a late renewal: others may have acted on its end',
    patches: [
      {
        file: 'lib/core/members/local-member.ts',
        find: 'own.isOver || (isRenewal && ',
        replace: '(isRenewal && ',
      },
      {
        file: 'lib/core/members/incarnation.ts',
        find: '    if (this.isOver) return;\n',
        replace: '    this.#isOver = false;\n',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'unstable-nodes', members: true, within: 500, says: /M3/ },
  },
  {
    name: 'late-join-counted',
    why: 'a join that is tried again counts from its last write: others may have judged the first one, which got no answer',
    patches: [{ file: 'lib/core/members/local-member.ts', find: '    own.begin();\n', replace: '' }],
    layer: { kind: 'specs', title: 'unit', specs: ['test/core/members/membership-own-lease.spec.ts'] },
  },
  {
    name: 'membership-by-writers-clock',
    why: "a lease is judged by its writer's time alone, without having watched it: a clock that jumps ahead ends it early",
    patches: [
      {
        file: 'lib/core/members/living-members.ts',
        find: 'Math.min(until - at, page.timeUntilExpiry(leaseOf(entry)))',
        replace: 'entry.expiresAt + 0 * page.timeUntilExpiry(leaseOf(entry)) - clusterClock.latest()',
      },
      {
        file: 'lib/core/members/living-members.ts',
        find: '!isRecovering && view.isExpired(leaseOf(stored))',
        replace: '!isRecovering && view.now >= stored.expiresAt',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'clock-spread', members: true, within: 2000, says: /M1/ },
  },
  {
    name: 'missing-member-is-over',
    why: 'a node whose entry is missing when its lease seems over is judged at once: the store may have lost its renewals',
    patches: [
      {
        file: 'lib/core/members/living-members.ts',
        find: 'if (isOver ?? (isMissing && readAt >= until)) this.#crash(entry);',
        replace: 'if (isOver ?? (isMissing || readAt <= until || readAt >= until)) this.#crash(entry);',
      },
    ],
    layer: { kind: 'specs', title: 'unit', specs: ['test/core/members/membership-judging.spec.ts'] },
  },
  {
    name: 'counts-while-leaving',
    why: 'a node that leaves counts on its lease until it gets the answer: the others see earlier that it left',
    patches: [
      {
        file: 'lib/core/members/local-member.ts',
        find: 'before this node gets the answer.\n    this.#own.end();\n    if',
        replace: 'before this node gets the answer.\n    if',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'none', members: true, within: 300, says: /M1/ },
  },
];
