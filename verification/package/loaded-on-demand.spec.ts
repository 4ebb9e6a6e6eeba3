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

it('The command line loads nothing of a node', async () => {
  const files = await filesLoadedBy(
    `(process.argv.push('gatekeeper', '--version'), import(${JSON.stringify(COMMAND_LINE)}))`,
  );
  expect(files.filter((file) => file.endsWith('/dist/cli.js'))).toHaveLength(1);
  expect(files.filter((file) => file.endsWith('/chunks/gatekeeper.js') || file.includes('@nestjs'))).toEqual([]);
});
