import { execa } from 'execa';
import { MAIN } from './live-cluster.js';

/** Writes the address of each ES module that is loaded to standard error. */
const HOOKS = `
  import { writeSync } from 'node:fs';
  export function load(url, context, next) {
    writeSync(2, url + '\\n');
    return next(url, context);
  }`;
const inline = (source: string) => `data:text/javascript,${encodeURIComponent(source)}`;
const TELLING = inline(`import { register } from 'node:module'; register(${JSON.stringify(inline(HOOKS))});`);

describe('the command line as a process', () => {
  it.each([
    ['--version', []],
    ['over HTTP', ['status', '--url', 'http://127.0.0.1:1/gatekeeper', '--token', 'some-other-token-01']],
    ['directly to Hazelcast', ['status', '--store', 'hazelcast://127.0.0.1:1/none', '--timeout', '100ms']],
  ])('starts without Nest, which takes longer to load than all the rest: %s', async (way, args) => {
    const command = ['--import', TELLING, MAIN, ...(args.length > 0 ? args : [way])];
    const { stderr } = await execa(process.execPath, command, { reject: false, env: { NODE_OPTIONS: '' } });
    const loaded = stderr.split('\n').filter((line) => line.startsWith('file:'));
    expect(loaded).toContainEqual(expect.stringMatching(/\/commander\//));
    expect(loaded.filter((url) => /\/@nestjs\//.test(url))).toEqual([]);
  });
});
