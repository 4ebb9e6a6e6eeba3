/** The pages of the site, in the order of its sidebar. Each page of docs stands in one group: a test fails if one is missing. */
export const GROUPS = [
  {
    title: 'Start',
    pages: ['README', 'stores', 'from-shedlock', 'from-redlock', 'from-node-cron', 'from-bullmq-repeatables'],
  },
  {
    title: 'Use',
    pages: [
      'permits',
      'options',
      'errors',
      'leadership',
      'allocation',
      'tasks',
      'task-examples',
      'testing',
      'bundling',
    ],
  },
  {
    title: 'Operate',
    pages: [
      'operations',
      'console',
      'cli',
      'http-api',
      'alerts',
      'telemetry',
      'kubernetes',
      'pm2',
      'hazelcast',
      'redis',
      'remote',
      'persistence',
    ],
  },
  { title: 'Understand', pages: ['guarantees', 'architecture', 'CONTRIBUTING'] },
  { title: 'Reports', pages: ['comparison', 'compatibility', 'fault-report', 'CHANGELOG'] },
];

/** Pages that stand in the project's folder and not in docs. */
const OF_THE_PROJECT = new Set(['README', 'CHANGELOG', 'CONTRIBUTING']);

/** The file of a page, from the project's folder. */
export const fileOf = (page) => (OF_THE_PROJECT.has(page) ? `${page}.md` : `docs/${page}.md`);

/** The address of a page on the site. */
export const addressOf = (page) => `/${page === 'README' ? 'guide' : page.toLowerCase()}`;

/** The title of a page's text: its first heading. */
export const titleOf = (text) => /^# (.+)$/m.exec(text)?.[1].replaceAll('`', '');
