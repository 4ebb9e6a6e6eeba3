import type { Bug } from './bug.js';

/** Mistakes with terms of leadership. */
export const LEADERSHIP_BUGS: readonly Bug[] = [
  {
    name: 'term-without-clocks',
    why: 'a term ends by its signal only: in its first step after a freeze, a node says that it leads while another one does',
    patches: [
      {
        file: 'lib/core/permits/runs/guarding-permit.ts',
        find: 'return this.permit.isHeld && !this.ending.aborted;',
        replace: 'return !this.ending.aborted;',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'leadership', within: 500, says: /S3/ },
  },
  {
    name: 'term-ignores-its-end',
    why: 'isLeader() looks at the permit only: a node that works off the end of its term still says that it leads',
    patches: [
      {
        file: 'lib/core/permits/runs/guarding-permit.ts',
        find: 'return this.permit.isHeld && !this.ending.aborted;',
        replace: 'return this.permit.isHeld;',
      },
      {
        file: 'lib/leadership/candidate.ts',
        find: '    const reason = await ended;\n    this.#term = undefined;\n',
        replace: '    const reason = await ended;\n',
      },
    ],
    layer: { kind: 'specs', title: 'unit', specs: ['test/leadership/handover.spec.ts'] },
  },
  {
    name: 'leads-while-disconnected',
    why: 'isLeader() does not look at the connection: a node that can reach no member, or too few, says that it leads',
    patches: [
      {
        file: 'lib/leadership/candidate.ts',
        find: 'return this.isConnected && this.#term?.isHeld === true;',
        replace: 'return this.#term?.isHeld === true;',
      },
    ],
    layer: { kind: 'specs', title: 'unit', specs: ['test/leadership/one-leader.spec.ts'] },
  },
  {
    name: 'given-back-undrained',
    why: 'the permit of a term goes back at once: the next leader begins while work under the former term goes on',
    patches: [
      {
        file: 'lib/leadership/candidate.ts',
        find: 'const isDrained = await this.#work.drain(term, this.parts.grace);',
        replace: 'const isDrained = (await this.#work.drain(term, 0)) || true;',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'leadership', within: 500, says: /S6/ },
  },
  {
    name: 'stuck-work-is-drained',
    why: 'the permit of a term goes back when the grace is over, although work under the term is stuck',
    patches: [
      {
        file: 'lib/leadership/candidate.ts',
        find: 'const isDrained = await this.#work.drain(term, this.parts.grace);',
        replace: 'const isDrained = (await this.#work.drain(term, this.parts.grace)) || true;',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'leadership', within: 500, says: /S6/ },
  },
  {
    name: 'loss-unnoticed',
    why: 'a term does not end with its permit: its signal never aborts, and the node never asks for the leadership again',
    patches: [
      {
        file: 'lib/leadership/candidate.ts',
        find: "permit.signal.addEventListener('abort', lost, { once: true });",
        replace: 'void lost;',
      },
    ],
    layer: { kind: 'specs', title: 'unit', specs: ['test/leadership/one-leader.spec.ts'] },
  },
];
