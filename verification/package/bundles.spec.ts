import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { byEsbuild, byNest, byWebpack, projectWith } from './bundle-project.js';

/** Facts that the application prints. */
interface Facts {
  readonly schedules: string[];
  readonly page: [status: number, isHtml: boolean];
  readonly script: [status: number, isScript: boolean];
  readonly postgres: string;
  readonly redis: string;
  readonly hazelcast: string;
  readonly invalid: string[];
  readonly ended: string;
  readonly health: number;
}

/** Each way to bundle an application, with minified names. It runs in a folder without any package. */
const BUNDLES: [string, (project: string, output: string) => Promise<string>][] = [
  ['esbuild, as an ES module', byEsbuild('esm')],
  ['esbuild, as CommonJS', byEsbuild('cjs')],
  ['nest build --webpack, as CommonJS', byNest],
  ['webpack, as an ES module', byWebpack],
];

describe.each(BUNDLES)('an application bundled by %s', (_name, bundle) => {
  let folder: string;
  let facts: Facts;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bundles-'));
    const file = await bundle(await projectWith(folder), join(folder, 'output'));
    const { stdout } = await execa(process.execPath, [file], { cwd: folder, env: { NODE_OPTIONS: '' } });
    facts = JSON.parse(stdout.split('\n').at(-1)!);
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('boots, and reads cron expressions', () => {
    expect(facts.schedules).toEqual(['nightly']);
  });

  it("serves the console's page", () => {
    expect(facts.page).toEqual([200, true]);
    expect(facts.script).toEqual([200, true]);
  });

  it('opens stores with the clients that are bundled, whose errors keep their names', () => {
    const names = [facts.postgres, facts.redis, facts.hazelcast];
    expect(names).toEqual(['StoreUnavailableError', 'StoreUnavailableError', 'StoreUnavailableError']);
  });

  it('refuses names that come from minified classes: they change with each build', () => {
    expect(facts.invalid).toHaveLength(1);
    expect(facts.invalid[0]).toContain('give it a name');
  });

  it('answers the health check of terminus', () => {
    expect(facts.health).toBe(200);
  });

  it('gives the errors of tasks their meaning', () => {
    expect(facts.ended).toBe('invalid');
  });
});
