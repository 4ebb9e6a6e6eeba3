import { execa } from 'execa';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bug, Layer } from './bug.js';
import { ROOT, type SeededSources, seededSources } from './seeded-sources.js';

/** What the layer that must find a bug has to say. */
export interface Catch {
  readonly isFound: boolean;
  /** How, or what was looked at in vain. */
  readonly how: string;
}

const cwd = fileURLToPath(ROOT);

/** Runs the layer of a bug with it, in processes of their own. */
export function hunt(bug: Bug): Promise<Catch> {
  const { layer } = bug;
  return layer.kind === 'simulation' ? huntInSimulation(bug) : runSpecs(layer.specs, seededSources(bug));
}

/** Runs a layer as it is: what it finds then is no proof of anything. */
export function control(layer: Layer): Promise<Catch> {
  return layer.kind === 'simulation' ? surveyAsIs(layer) : runSpecs(layer.specs, {});
}

/** How people run the layer with a bug in it. */
export function commandOf({ name, layer }: Bug): string {
  return layer.kind === 'simulation' ? `npm run sim -- --bug ${name}` : `npm run test:bugs -- ${name}`;
}

async function huntInSimulation({ name }: Bug): Promise<Catch> {
  const { stdout, exitCode } = await simulation('--bug', name);
  return { isFound: exitCode === 1, how: stdout.split('\n').at(-1)! };
}

async function surveyAsIs({ faultMix, within }: Layer & { kind: 'simulation' }): Promise<Catch> {
  const { stdout, exitCode } = await simulation('--faults', faultMix, '--count', String(within));
  return { isFound: exitCode === 1, how: stdout };
}

async function simulation(...args: string[]) {
  const { stdout, stderr, exitCode } = await execa('node', ['test/simulation/run.mjs', ...args], {
    cwd,
    reject: false,
  });
  // Also an error of the program ends it with 1.
  if (exitCode === undefined || exitCode > 1 || stderr !== '') throw new Error(`the simulation failed: ${stderr}`);
  return { stdout, exitCode };
}

interface JestResult {
  readonly numTotalTests: number;
  readonly numFailedTests: number;
  readonly numRuntimeErrorTestSuites: number;
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

async function runSpecs(specs: readonly string[], sources: SeededSources): Promise<Catch> {
  const folder = await mkdtemp(join(tmpdir(), 'bugs-'));
  const file = join(folder, 'result.json');
  const jest = [
    'node_modules/jest/bin/jest.js',
    '--config',
    'test/bugs/jest.config.js',
    '--json',
    '--outputFile',
    file,
  ];
  try {
    const { stderr } = await execa('node', ['--experimental-vm-modules', ...jest, ...specs], {
      cwd,
      reject: false,
      env: { SEEDED_SOURCES: JSON.stringify(sources) },
    });
    const text = await readFile(file, 'utf8').catch(() => {
      throw new Error(`jest gave no result: ${stderr}`);
    });
    return readResult(JSON.parse(text) as JestResult);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** @throws Error when a suite could not even run: a patch that breaks the program is no bug that was found */
function readResult({ testResults, numTotalTests, numFailedTests, numRuntimeErrorTestSuites }: JestResult): Catch {
  if (numRuntimeErrorTestSuites > 0 || numTotalTests === 0) {
    throw new Error(`specs that could not run: ${testResults.map(({ message }) => message).join('\n')}`);
  }
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .find(({ status }) => status === 'failed');
  if (!failed) return { isFound: false, how: `all ${numTotalTests} tests passed` };
  return { isFound: true, how: `${numFailedTests} of ${numTotalTests} tests failed, such as "${failed.fullName}"` };
}
