import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { TOKENS, useConsoles } from '../../../test/console/consoles.js';
import { until } from '../../../test/support/apps.js';
import { partsOf } from '../../../lib/gatekeeper/parts.js';

const PROGRAMS = fileURLToPath(new URL('programs/', import.meta.url));
const POM = fileURLToPath(new URL('../../../tools/openapi-generator/pom.xml', import.meta.url));
export const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/openapi-clients/', import.meta.url));
const JAR_NAME = 'openapi-generator-cli-7.17.0.jar';
const JAR = join(CACHE, JAR_NAME);
/** Machines that are busy take long to compile a client. */
export const PATIENCE = 300_000;

interface Language {
  /** As the generator calls it. */
  readonly generator: string;
  readonly options?: readonly string[];
  /** The programs that it needs besides Java and Maven, each with the arguments to which it answers. */
  readonly needs: readonly (readonly [program: string, ...args: string[]])[];
  /** In the program's folder, to which the client is generated. */
  readonly client: string;
  /** The program's file and where it is put. */
  readonly program: readonly [file: string, path: string];
  /** Compiles and gives the command that runs it, both in the folder of the program. */
  build(folder: string): Promise<readonly [program: string, ...args: string[]]>;
}

/** @returns a test's body: generates a client from the document of a running application, and runs a program on it */
export function useGeneratedClient(language: Language): () => Promise<void> {
  const start = useConsoles();
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'client-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  return async () => {
    const missing = await missingOf([['java', '-version'], ['mvn', '--version'], ...language.needs]);
    if (missing)
      return void process.stdout.write(`skipped: a generated ${language.generator} client needs ${missing}\n`);
    const console = await start({ gatekeeper: { definitions: [{ name: 'job', duration: '10s' }] } });
    await writeFile(join(folder, 'openapi.json'), (await console.get('/api/openapi.json', { token: null })).text);
    await generate(language, folder);
    const [file, path] = language.program;
    await cp(join(PROGRAMS, file), join(folder, path));
    const [command, ...args] = await language.build(folder);

    const events: string[] = [];
    console.gatekeeper.events$.subscribe((event) => {
      if ('permit' in event && event.permit?.holder !== console.gatekeeper.node.instance) events.push(event.type);
    });
    const held = (await console.gatekeeper.tryAcquire('job', { keepAlive: true }))!;
    const env = { GATEKEEPER_URL: console.url, GATEKEEPER_TOKEN: TOKENS.operate };
    const running = execa({ cwd: folder, env, reject: false })(command, args);
    const ended = running.then(({ all, stderr }) => Promise.reject(new Error(`it ended: ${all ?? stderr}`)));
    await Promise.race([ended, until(() => partsOf(console.gatekeeper).external.waiting === 1)]);
    ended.catch(() => undefined); // from now on its output is looked at
    await held.release();
    const { stdout, stderr } = await running;
    const [token] = /(?<=granted )\d+/.exec(stdout) ?? [stderr];
    expect(stdout.split('\n')).toEqual(['denied no-permit', `granted ${token}`, `refreshed ${token}`, 'released true']);
    expect(events).toEqual(['granted', 'refreshed', 'released']);
    expect(Number(token)).toBeGreaterThan(2 ** 32);
  };
}

async function missingOf(needs: Language['needs']): Promise<string | undefined> {
  const found = await Promise.all(needs.map(([program, ...args]) => execa({ reject: false })(program, args)));
  return needs.find((_, index) => found[index]!.exitCode !== 0)?.[0];
}

/** Copied aside, then renamed: the test of another language may look for the jar at the same time. */
async function fetchGenerator(): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const aside = await mkdtemp(join(CACHE, 'fetch-'));
  const copy = ['dependency:copy-dependencies', '-DexcludeTransitive=true', `-DoutputDirectory=${aside}`];
  await execa('mvn', ['-q', '-B', '-f', POM, ...copy]);
  await rename(join(aside, JAR_NAME), JAR);
  await rm(aside, { recursive: true });
}

async function generate({ generator, options = [], client }: Language, folder: string): Promise<void> {
  if (!existsSync(JAR)) await fetchGenerator();
  const parts = 'apis,models,supportingFiles,apiDocs=false,modelDocs=false,apiTests=false,modelTests=false';
  const files = ['-i', join(folder, 'openapi.json'), '-o', join(folder, client), '--global-property', parts];
  await execa('java', ['-jar', JAR, 'generate', '-g', generator, ...files, ...options]);
}
