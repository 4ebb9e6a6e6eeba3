import { execa } from 'execa';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bug, Layer } from './bug.js';
import { ROOT, type SeededSources, seededSources } from './seeded-sources.js';

/** Result of the layer of tests that must find a bug. */
export interface Catch {
  readonly isFound: boolean;
  /** The failure that showed the bug, or the work that found nothing. */
  readonly how: string;
}

const cwd = fileURLToPath(ROOT);

/**
 * Runs a bug's layer with the bug, in separate processes.
 *
 * @param from the first seed, if the layer is a simulation
 */
export function hunt(bug: Bug, from = 1): Promise<Catch> {
  const { layer } = bug;
  return layer.kind === 'specs' ? runSpecs(layer.specs, seededSources(bug)) : huntInSimulation(bug, from);
}

/** Runs a layer without a bug. If it finds something, its results with a bug prove nothing. */
export function control(layer: Layer): Promise<Catch> {
  return layer.kind === 'specs' ? runSpecs(layer.specs, {}) : surveyAsIs(layer);
}

/** The command that runs a bug's layer with the bug. */
export function commandOf({ name, layer }: Bug): string {
  if (layer.kind === 'specs') return `npm run test:bugs -- ${name}`;
  return ['npm run sim --', ...modeOf(layer), `--bug ${name}`].join(' ');
}

function modeOf({ kind }: Layer): string[] {
  return kind === 'simulation' || kind === 'specs' ? [] : [`--${kind}`];
}

async function huntInSimulation({ name, layer }: Bug, from: number): Promise<Catch> {
  const { stdout, exitCode } = await simulation(...modeOf(layer), '--bug', name, '--from', String(from));
  return { isFound: exitCode === 1, how: stdout.split('\n').at(-1)! };
}

async function surveyAsIs(layer: Exclude<Layer, { kind: 'specs' }>): Promise<Catch> {
  const { stdout, exitCode } = await simulation(...surveyOf(layer));
  return { isFound: exitCode === 1, how: stdout };
}

function surveyOf(layer: Exclude<Layer, { kind: 'specs' }>): string[] {
  const within = String(layer.within);
  if (layer.kind !== 'simulation') return [`--${layer.kind}`, '--faults', layer.faults.join(), '--seeds', within];
  return [...(layer.members ? ['--members'] : []), '--faults', layer.faultMix, '--count', within];
}

async function simulation(...args: string[]) {
  const { stdout, stderr, exitCode } = await execa('node', ['test/simulation/run.mjs', ...args], {
    cwd,
    reject: false,
  });
  // An error of the program also ends it with 1.
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
    '--reporters',
    'default',
    '--roots',
    'test',
    'verification',
    '--json',
    '--outputFile',
    file,
  ];
  try {
    const { stderr } = await execa('node', [...jest, ...specs], {
      cwd,
      reject: false,
      // As many cases as the stage `proof` tries: `npm test` tries too few for the rarest bugs.
      env: { SEEDED_SOURCES: JSON.stringify(sources), RUNS: '10' },
    });
    const text = await readFile(file, 'utf8').catch(() => {
      throw new Error(`jest gave no result: ${stderr}`);
    });
    return readResult(JSON.parse(text) as JestResult);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** @throws Error when a suite could not run: a patch that breaks the program does not count as a found bug */
function readResult({ testResults, numTotalTests, numFailedTests, numRuntimeErrorTestSuites }: JestResult): Catch {
  if (numRuntimeErrorTestSuites > 0 || numTotalTests === 0) {
    throw new Error(`specs that could not run: ${testResults.map(({ message }) => message).join('\n')}`);
  }
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .find(({ status }) => status === 'failed');
  if (!failed) return { isFound: false, how: `all ${numTotalTests} tests passed` };
  return { isFound: true, how: `${numFailedTests} of ${numTotalTests} tests failed, for example "${failed.fullName}"` };
}
