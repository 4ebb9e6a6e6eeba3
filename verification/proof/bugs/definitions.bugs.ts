import type { Bug } from './bug.js';

/** Mistakes with definitions that follow the code, and with their removal. */
export const DEFINITIONS_BUGS: readonly Bug[] = [
  {
    name: 'announced-is-ignored',
    why: 'a node takes its definition over while living nodes have the stored one in their code: each restart in a rolling deploy changes it back',
    patches: [
      {
        file: 'lib/operate/definitions/code-rule.ts',
        find: "  if (announced.some((each) => each.fingerprint === fingerprint)) return 'announced';\n",
        replace: '',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'calm-deploys', within: 500, says: /S8/ },
  },
  {
    name: 'follows-an-old-look',
    why: 'a node takes its definition over although the record is another one since it looked: it overwrites the edit of an operator',
    patches: [
      {
        file: 'lib/operate/definitions/code-rule.ts',
        find: 'return isSame && isFollowing && record.revision',
        replace: 'return record.revision',
      },
    ],
    layer: { kind: 'simulation', faultMix: 'deploys', within: 500, says: /S7/ },
  },
  {
    name: 'latest-is-not-asked',
    why: 'a node takes its definition over although the code of a node that started later has another one: the definition goes back and forth',
    patches: [
      {
        file: 'lib/operate/definitions/code-rule.ts',
        find: "return announced.reduce(laterOf).fingerprint === own ? 'take' : 'later';",
        replace: "return 'take';",
      },
    ],
    layer: {
      kind: 'specs',
      title: 'unit',
      specs: ['test/operate/definitions/code-rule.spec.ts', 'test/operate/definitions/code-changes.spec.ts'],
    },
  },
  {
    name: 'others-code-may-go',
    why: "a removal looks at this node's code only: a job that another node's code defines never runs again",
    patches: [
      {
        file: 'lib/core/permits/declared/declared-definitions.ts',
        find: '.filter(({ fingerprintOf }) => fingerprintOf(name) !== undefined)',
        replace: '.filter(() => false)',
      },
    ],
    layer: { kind: 'specs', title: 'unit', specs: ['test/operate/definitions/code-changes.spec.ts'] },
  },
];
