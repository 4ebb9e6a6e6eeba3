import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

const entry = (build: string) => JSON.stringify(fileURLToPath(new URL(`../../${build}/index.js`, import.meta.url)));

/** Both builds, as they are shipped. */
const BUILDS: [build: string, load: string][] = [
  ['ES modules', `import(${entry('dist')})`],
  ['CommonJS', `Promise.resolve(require(${entry('dist-cjs')}))`],
];

/** Runs a program in a process of its own and counts the files of the Hazelcast client that it loaded. */
async function filesOfTheClient(load: string, use: string): Promise<number> {
  const program = `${load}.then(async (gatekeeper) => {
    ${use}
    console.log(Object.keys(require.cache).filter((file) => file.includes('hazelcast-client/lib')).length);
  })`;
  const { stdout } = await execa(process.execPath, ['--eval', program], { env: { NODE_OPTIONS: '' } });
  return Number(stdout);
}

describe.each(BUILDS)('An application that imports the package (%s)', (_build, load) => {
  it('does not load the Hazelcast client', async () => {
    expect(await filesOfTheClient(load, '')).toBe(0);
  });

  it('does not load it for records that lie elsewhere', async () => {
    expect(await filesOfTheClient(load, 'await gatekeeper.memory().open().close();')).toBe(0);
  });

  it('loads it when it opens a store in Hazelcast', async () => {
    const use = `await gatekeeper.hazelcast({ members: ['127.0.0.1:1'] }).open().close();`;
    expect(await filesOfTheClient(load, use)).toBeGreaterThan(100);
  });
});
