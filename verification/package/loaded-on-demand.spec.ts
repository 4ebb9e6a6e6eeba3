import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

const entry = (build: string) => JSON.stringify(fileURLToPath(new URL(`../../${build}/index.js`, import.meta.url)));
const COMMAND_LINE = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** Both builds, as they are shipped. */
const BUILDS: [build: string, load: string][] = [
  ['ES modules', `import(${entry('dist')})`],
  ['CommonJS', `Promise.resolve(require(${entry('dist-cjs')}))`],
];

/** Prints the addresses of all files that a process has loaded, as modules of any kind, when `work` is done. */
function printingFiles(work: string): string {
  return `
    const session = new (require('node:inspector').Session)();
    const files = [];
    session.connect();
    session.on('Debugger.scriptParsed', ({ params }) => files.push(params.url));
    session.post('Debugger.enable');
    Promise.resolve(${work}).then(() => console.log(files.join('\\n')));`;
}

/** Runs a program in a process of its own. */
async function filesLoadedBy(load: string, use = ''): Promise<string[]> {
  const program = printingFiles(`${load}.then(async (gatekeeper) => { ${use} })`);
  const { stdout } = await execa(process.execPath, ['--eval', program], { env: { NODE_OPTIONS: '' } });
  return stdout.split('\n');
}

const ofTheClient = (file: string) => file.includes('hazelcast-client/lib');
const ofTheConsole = (file: string) => file.endsWith('/chunks/console.js');
/** Chunks that an application without tasks and groups does not need. */
const PARTS = ['tasks', 'allocation'];
const partsIn = (files: readonly string[]) =>
  PARTS.filter((part) => files.some((file) => file.endsWith(`/chunks/${part}.js`)));

/**
 * A program that boots a Nest application with one provider, and closes it.
 *
 * @param options of the module
 * @param decorated decorates `method`, which stands for the target, the name and the descriptor of `Jobs.run`
 * @param use of the application `app`
 */
const application = ({ options = 'store: gatekeeper.memory()', decorated = '', use = '' }) => `
  const assert = require('node:assert/strict');
  const { NestFactory } = await import('@nestjs/core');
  const done = [];
  class Jobs { async run(task) { done.push(task.id); } }
  const method = [Jobs.prototype, 'run', Object.getOwnPropertyDescriptor(Jobs.prototype, 'run')];
  ${decorated};
  const imports = [gatekeeper.GatekeeperModule.forRoot({ ${options} })];
  const app = await NestFactory.createApplicationContext({ module: class {}, imports, providers: [Jobs] }, { logger: false });
  const until = async (isTrue) => { while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 10)); };
  ${use}
  await app.close();`;

const ONE_JOB = `gatekeeper.ClusterSingleton('job', '10s')(...method)`;
const A_HANDLER = `gatekeeper.TaskHandler('mail')(...method)`;
const SUBMIT = `await app.get(gatekeeper.TasksService).submit(gatekeeper.single('mail', 'a'));`;
const A_GROUP = `{ resources: () => ['a', 'b'], id: String }`;

describe.each(BUILDS)('An application that imports the package (%s)', (_build, load) => {
  it('does not load the Hazelcast client, nor the console', async () => {
    const files = await filesLoadedBy(load);
    expect(files.filter((file) => file.endsWith('/chunks/gatekeeper.js'))).toHaveLength(1);
    expect(files.filter((file) => ofTheClient(file) || ofTheConsole(file))).toEqual([]);
  });

  it('does not load the Hazelcast client for records that lie elsewhere', async () => {
    const files = await filesLoadedBy(load, 'await gatekeeper.memory().open().close();');
    expect(files.filter(ofTheClient)).toEqual([]);
  });

  it('loads the Hazelcast client when it opens a store in Hazelcast', async () => {
    const use = `await gatekeeper.hazelcast({ members: ['127.0.0.1:1'] }).open().close();`;
    expect((await filesLoadedBy(load, use)).filter(ofTheClient).length).toBeGreaterThan(100);
  });

  it('loads the console when its module has one', async () => {
    const use = `await gatekeeper.GatekeeperModule.forRoot({ store: gatekeeper.memory(), console: {} }).imports.at(-1);`;
    expect((await filesLoadedBy(load, use)).filter(ofTheConsole)).toHaveLength(1);
  });
});

describe.each(BUILDS)('An application loads what it uses (%s)', (build, load) => {
  const loadedBy = async (parts: Parameters<typeof application>[0]) =>
    partsIn(await filesLoadedBy(load, application(parts)));
  const postgres = JSON.stringify(
    fileURLToPath(new URL(`../../${build === 'CommonJS' ? 'dist-cjs' : 'dist'}/postgres.js`, import.meta.url)),
  );

  it.each([
    ['memory()', 'store: gatekeeper.memory()'],
    ['postgres()', `store: (await import(${postgres})).postgres({ connectionString: 'postgres://127.0.0.1:1/none' })`],
  ])('for one @ClusterSingleton on %s: neither tasks nor allocation', async (_store, options) => {
    expect(await loadedBy({ options, decorated: ONE_JOB })).toEqual([]);
  });

  it.each([
    ['a handler of tasks', { decorated: A_HANDLER, use: `${SUBMIT} await until(() => done.includes('mail:a'));` }],
    ['a schedule', { decorated: `gatekeeper.ClusterCron('0 3 * * *', { name: 'nightly' })(...method)` }],
    ['a submission', { decorated: ONE_JOB, use: SUBMIT }],
    [
      'a handler that is added later',
      {
        use: `
          const tasks = app.get(gatekeeper.TasksService);
          tasks.handle('mail', ({ id }) => done.push(id), { concurrency: 2 });
          assert.deepEqual(tasks.types(), [{ type: 'mail', handles: 'tasks', concurrency: 2, running: 0 }]);
          assert.throws(() => tasks.handle('mail', () => 1), gatekeeper.InvalidOptionsError);
          ${SUBMIT} await until(() => done.includes('mail:a'));`,
      },
    ],
  ])('for %s: tasks', async (_name, parts) => {
    expect(await loadedBy(parts)).toEqual(['tasks']);
  });

  it.each([
    [
      'a group of the options',
      { options: `store: gatekeeper.memory(), allocation: { groups: [{ name: 'queues', ...${A_GROUP} }] }` },
    ],
    [
      'a group that is added later',
      {
        use: `
          const group = app.get(gatekeeper.AllocationService).group('queues', ${A_GROUP});
          assert.deepEqual(group.owned(), []);
          assert.deepEqual(await group.run('a', () => 1), { executed: false, reason: 'not-owner' });
          assert.equal((await group.overview()).name, 'queues');
          assert.equal(app.get(gatekeeper.AllocationService).group('queues'), group);`,
      },
    ],
  ])('for %s: allocation', async (_name, parts) => {
    expect(await loadedBy(parts)).toEqual(['allocation']);
  });
});

it('The command line loads nothing of a node', async () => {
  const files = await filesLoadedBy(
    `(process.argv.push('gatekeeper', '--version'), import(${JSON.stringify(COMMAND_LINE)}))`,
  );
  expect(files.filter((file) => file.endsWith('/dist/cli.js'))).toHaveLength(1);
  expect(files.filter((file) => file.endsWith('/chunks/gatekeeper.js') || file.includes('@nestjs'))).toEqual([]);
});
