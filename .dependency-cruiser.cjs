/**
 * The rooms of lib/tasks, from the lowest to the highest. Above them stands the service: the files of lib/tasks itself, which
 * may import all of them.
 */
const TASK_ROOMS = [
  'tasks/rules',
  'tasks/records',
  'tasks/sweep',
  'tasks/admission',
  'tasks/workers',
  'tasks/schedules',
  'tasks/by-hand',
  'tasks/overview',
  'tasks/external',
];

/**
 * The floors of lib, from the lowest to the highest: a folder may import only from those before it. A new folder gets its
 * place in this list. Nobody imports a peer that belongs to another folder.
 */
const FLOORS = [
  'core/copies',
  'core/decision',
  'core/async',
  'core/cron',
  'core/store',
  'core/clock',
  'core/context',
  'core/cell',
  'core/journals',
  'core/members',
  'core/permits',
  'stores',
  'leadership',
  'allocation',
  ...TASK_ROOMS,
  'tasks',
  'operate/activity',
  'operate/definitions',
  'operate/run-now',
  'operate/insight',
  'operate/alerts',
  'gatekeeper',
  'telemetry',
  'nest',
  'console',
  'cli',
];

const direction = FLOORS.map((folder, index) => ({
  name: `${folder}-imports-only-what-stands-before-it`,
  severity: 'error',
  from: { path: `^lib/${folder}/` },
  to: { path: '^lib/', pathNot: `^lib/(${FLOORS.slice(0, index + 1).join('|')})/` },
}));

module.exports = {
  forbidden: [
    ...direction,
    {
      name: 'every-folder-has-its-place',
      comment: 'Add the folder to FLOORS, or to the folders at the edge that may import all of them.',
      severity: 'error',
      from: { path: '^lib/.+/', pathNot: `^lib/(${[...FLOORS, 'testing'].join('|')})/` },
      to: {},
    },
    {
      name: 'every-room-of-tasks-has-its-place',
      comment: 'Add the folder to TASK_ROOMS.',
      severity: 'error',
      from: { path: '^lib/tasks/.+/', pathNot: `^lib/(${TASK_ROOMS.join('|')})/` },
      to: {},
    },
    {
      name: 'the-rules-of-tasks-are-pure',
      comment: 'They ask no store and no clock. Of modules that do, they may import types only.',
      severity: 'error',
      from: { path: '^lib/tasks/rules/' },
      to: {
        path: '^lib/core/',
        pathNot: '^lib/core/(decision/|cron/|async/backoff\\.ts$|context/(node-identity|change-options)\\.ts$)',
        dependencyTypesNot: ['type-only'],
      },
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
      comment: 'No I/O and no Nest in lib/core/decision.',
      severity: 'error',
      from: { path: '^lib/core/decision/' },
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
          '^lib/(console/(web|lists)/|console/api/limits\\.ts$|operate/insight/(format-duration|fault-titles)\\.ts$|core/context/(loss-words|stale)\\.ts$|operate/definitions/undo/refusals\\.ts$|core/decision/texts/exact-duration\\.ts$)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'shared-with-the-page-imports-nothing',
      severity: 'error',
      from: {
        path: '^lib/(console/api/limits|operate/insight/(format-duration|fault-titles)|core/context/(loss-words|stale)|operate/definitions/undo/refusals|core/decision/texts/exact-duration)\\.ts$',
      },
      to: { dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'lists-are-for-the-page-too',
      comment:
        'The command line and the page share them: nothing that the page may not import may get in through them.',
      severity: 'error',
      from: { path: '^lib/console/lists/' },
      to: {
        pathNot:
          '^lib/(console/lists/|operate/insight/format-duration\\.ts$|core/context/(loss-words|stale)\\.ts$|core/decision/texts/exact-duration\\.ts$)',
        dependencyTypesNot: ['type-only'],
      },
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
    {
      name: 'no-circles-of-folders',
      comment: 'Of two folders, one stands on the other: it can be read without what stands above it.',
      severity: 'error',
      scope: 'folder',
      from: {
        path: '^lib/(core|stores|leadership|allocation|tasks|operate|gatekeeper|nest|telemetry|console|cli|testing)',
      },
      to: {
        circular: true,
        path: '^lib/(core|stores|leadership|allocation|tasks|operate|gatekeeper|nest|telemetry|console|cli|testing)',
      },
    },
    { name: 'no-orphans', severity: 'error', from: { orphan: true, pathNot: '\\.d\\.ts$' }, to: {} },
    {
      name: 'resolvable',
      comment: 'The texts of the page are there after a build only, and their loader does without them.',
      severity: 'error',
      from: { pathNot: '^load-console-page\\.cjs$' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
