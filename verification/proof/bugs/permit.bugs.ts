import type { Bug } from './bug.js';

/** Mistakes in the decision who gets a permit, and in permits themselves. */
export const PERMIT_BUGS: readonly Bug[] = [
  {
    name: 'release-without-id',
    why: "a release does not compare ids: a late one frees the next holder's permit",
    patches: [
      {
        file: 'lib/core/decision/changes.ts',
        find: `  if (!record.permits.some((permit) => permit.id === permitId)) return undefined;
  const permits = record.permits.filter((permit) => permit.id !== permitId);`,
        replace: '  if (permitId === "") return undefined;\n  const permits = record.permits.slice(1);',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'unstable-nodes', within: 500, says: /S1/ },
  },
  {
    name: 'freed-under-a-joined-use',
    why: 'a release fails before it is sent: the permit is freed all the same, under a use that joined the lease meanwhile',
    patches: [{ file: 'lib/core/permits/held-leases.ts', find: '      if (goesOn()) return;\n', replace: '' }],
    layer: { kind: 'simulation', faultMix: 'slow', within: 3000, says: /S4 .* as if its caller had released it/ },
  },
  {
    name: 'slot-without-count',
    why: 'a free slot is granted without counting the permits: there is always a free number',
    patches: [
      { file: 'lib/core/decision/decide.ts', find: '  if (held.length >= permits) return undefined;\n', replace: '' },
    ],
    layer: { kind: 'simulation', faultMix: 'none', within: 500, says: /S1/ },
  },
  {
    name: 'name-proves-the-holder',
    why: 'a new process takes the permit of a former one of the same name, as its own: after a reload both may live',
    patches: [
      {
        file: 'lib/core/decision/decide.ts',
        find: 'record.permits.filter((permit) => !isOwn(permit, request) && !view.isExpired(permit))',
        replace:
          'record.permits.filter(\n    (permit) => !isOwn(permit, request) && permit.acquirer !== request.acquirer && !view.isExpired(permit),\n  )',
      },
    ],
    layer: { kind: 'specs', title: 'unit', specs: ['test/core/permits/same-name.spec.ts'] },
  },
  {
    name: 'token-reset',
    why: 'tokens only count up: after a loss of data they start again from the beginning',
    patches: [
      {
        file: 'lib/core/decision/token.ts',
        find: 'return Math.max(lastToken + 1, Math.floor(now) * PER_MS);',
        replace: 'return Math.max(lastToken + 1, Math.sign(now));',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'data-loss-and-crashes-strict', within: 500, says: /S2/ },
  },
  {
    name: 'refresh-changes-token',
    why: "a refresh gets a new token, too: the holder's own resource refuses the token that the holder still uses",
    patches: [
      {
        file: 'lib/core/decision/decide.ts',
        find: 'const permit = lasting(held, {',
        replace: 'const permit = lasting({ ...held, token: nextToken(record.lastToken, view.now) }, {',
      },
    ],
    layer: { kind: 'specs', title: 'properties', specs: ['test/core/decision/decide.properties.spec.ts'] },
  },
  {
    name: 'second-object',
    why: 'a semaphore that was idle is used beside another object of the same name: neither knows the leases of the other',
    patches: [
      { file: 'lib/core/permits/node-semaphore.ts', find: 'return remembered ?? this;', replace: 'return this;' },
    ],
    layer: { kind: 'simulation', faultMix: 'on-demand', within: 300, says: /no such lease|S1|S4/ },
  },
  {
    name: 'revived',
    why: 'keep-alive and extend() refresh a permit that has ended: its holder has already heard that it is over',
    patches: [
      { file: 'lib/core/permits/keep-alive.ts', find: '!isWanted || !this.lease.isHeld', replace: '!isWanted' },
      {
        file: 'lib/core/permits/held-leases.ts',
        find: '        if (!lease.isHeld) return { result: false, unclear };\n',
        replace: '',
      },
      {
        file: 'lib/core/permits/held-leases.ts',
        find: '    if (!lease.isHeld) {\n      this.#markUncertain(lease, permit.duration);\n      return undefined;\n    }\n',
        replace: '',
      },
      {
        file: 'lib/core/permits/held-permit.ts',
        find: 'return this.isHeld && (await this.owner.refresh(this.lease, duration));',
        replace: 'return await this.owner.refresh(this.lease, duration);',
      },
      {
        file: 'lib/core/permits/lease.ts',
        find: '    this.#uncertain = undefined;\n  }\n\n  /** Ends',
        replace: '    this.#uncertain = undefined;\n    this.#end = undefined;\n  }\n\n  /** Ends',
      },
    ],
    layer: {
      kind: 'specs',
      title: 'unit',
      specs: ['test/core/permits/lease-end.spec.ts', 'test/core/permits/permits.spec.ts'],
    },
  },
];
