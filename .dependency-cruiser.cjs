/**
 * The layout's direction: a folder may import only from those before it. A new folder gets its place in this list.
 * Nobody imports a peer that belongs to another folder.
 */
const LAYERS = [
  'copies',
  'decision',
  'async',
  'cron',
  'stores',
  'clock',
  'context',
  'archives',
  'records',
  'activity',
  'definitions',
  'permits',
  'leadership',
  'allocation',
  'tasks',
  'insight',
  'alerts',
  'gatekeeper',
  'telemetry',
  'nest',
  'console',
  'cli',
];

const direction = LAYERS.map((folder, index) => ({
  name: `${folder}-imports-only-what-stands-before-it`,
  severity: 'error',
  from: { path: `^lib/${folder}/` },
  to: { path: '^lib/', pathNot: `^lib/(${LAYERS.slice(0, index + 1).join('|')})/` },
}));

module.exports = {
  forbidden: [
    ...direction,
    {
      name: 'every-folder-has-its-place',
      comment: 'Add the folder to LAYERS, or to the folders at the edge that may import all of them.',
      severity: 'error',
      from: { path: '^lib/[^/]+/', pathNot: `^lib/(${[...LAYERS, 'testing'].join('|')})/` },
      to: {},
    },
    {
      name: 'nothing-imports-the-edge',
      severity: 'error',
      from: {
        path: '^lib/',
        pathNot: '^lib/(index|gatekeeper\\.module|gatekeeper\\.module-definition)\\.ts$|^lib/testing/',
      },
      to: { path: '^lib/testing/|^lib/[^/]+\\.ts$' },
    },
    {
      name: 'stores-do-not-know-each-other',
      severity: 'error',
      from: { path: '^lib/stores/([^/]+)/' },
      to: { path: '^lib/stores/[^/]+/', pathNot: '^lib/stores/$1/' },
    },
    {
      name: 'the-core-is-pure',
      comment: 'No I/O and no Nest in lib/decision.',
      severity: 'error',
      from: { path: '^lib/decision/' },
      to: { dependencyTypes: ['core', 'npm-peer'] },
    },
    {
      name: 'only-telemetry-knows-opentelemetry',
      comment: 'It is an optional peer, so nothing that is always loaded may import it.',
      severity: 'error',
      from: { path: '^lib/', pathNot: '^lib/telemetry/' },
      to: { path: '^lib/telemetry/|node_modules/@opentelemetry' },
    },
    {
      name: 'only-the-hazelcast-store-knows-the-client',
      severity: 'error',
      from: { path: '^lib/', pathNot: '^lib/stores/hazelcast/' },
      to: { path: 'node_modules/hazelcast-client' },
    },
    {
      name: 'the-page-knows-only-the-api-by-its-types',
      comment:
        'It runs in browsers: nothing of a node may get into it, but for files of words, which import nothing but types.',
      severity: 'error',
      from: { path: '^lib/console/web/' },
      to: {
        path: '^lib/',
        pathNot:
          '^lib/(console/web/|insight/(format-duration|fault-titles)\\.ts$|context/loss-words\\.ts$|definitions/undo/refusals\\.ts$|decision/texts/exact-duration\\.ts$)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'shared-with-the-page-imports-nothing',
      severity: 'error',
      from: {
        path: '^lib/(insight/(format-duration|fault-titles)|context/loss-words|definitions/undo/refusals|decision/texts/exact-duration)\\.ts$',
      },
      to: { dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'nobody-imports-the-page',
      severity: 'error',
      from: { path: '^lib/', pathNot: '^lib/console/web/' },
      to: { path: '^lib/console/web/' },
    },
    {
      name: 'no-circles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    { name: 'no-orphans', severity: 'error', from: { orphan: true, pathNot: '\\.d\\.ts$' }, to: {} },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
