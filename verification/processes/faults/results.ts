import { readFile, writeFile } from 'node:fs/promises';
import { FAULTS } from './faults.js';
import type { FaultResult } from './run-fault.js';
import { STORES, type StoreName } from './stores.js';

/** Faults of one site that have no result, because the site or the run failed. */
export interface Failure {
  readonly store: StoreName;
  readonly faults: readonly string[];
  readonly text: string;
}

/** Outcome of one call of the command. */
export interface Run {
  readonly seed: number;
  /** ISO 8601 */
  readonly began: string;
  readonly results: readonly FaultResult[];
  /** Faults that this machine can't run, each with a line that says why. */
  readonly skipped: readonly string[];
  readonly failures: readonly Failure[];
}

/** Outcome of several calls: the last result of each fault on each store. */
export interface Results extends Pick<Run, 'results' | 'failures' | 'skipped'> {
  readonly seeds: readonly number[];
  readonly began: string;
}

/** @param runs in the order of time */
export function merge(runs: readonly Run[]): Results {
  const results = new Map<string, FaultResult>();
  for (const result of runs.flatMap((run) => run.results)) results.set(keyOf(result.store, result.fault), result);
  const failures = runs.flatMap((run) => run.failures);
  return {
    seeds: [...new Set(runs.map(({ seed }) => seed))],
    began: runs[0]!.began,
    results: [...results.values()].toSorted((one, other) => placeOf(one) - placeOf(other)),
    skipped: [...new Set(runs.flatMap(({ skipped }) => skipped))],
    failures: failures.filter(({ store, faults }) => faults.some((fault) => !results.has(keyOf(store, fault)))),
  };
}

/** Adds a run to those of a file, which need not exist. */
export async function addRun(file: string, run: Run): Promise<void> {
  await writeFile(file, JSON.stringify([...(await readRuns(file)), run], withoutInfinity));
}

/** The runs that {@link addRun} wrote. */
export async function readRuns(file: string): Promise<Run[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '[]';
    throw error;
  });
  return JSON.parse(text, withInfinity) as Run[];
}

const keyOf = (store: StoreName, fault: string): string => `${store} ${fault}`;

function placeOf({ store, fault }: FaultResult): number {
  return STORES.indexOf(store) * FAULTS.length + FAULTS.findIndex(({ name }) => name === fault);
}

/** JSON has no Infinity, the time of something that never came. */
const NEVER = 'never';
const withoutInfinity = (_key: string, value: unknown): unknown => (value === Infinity ? NEVER : value);
const withInfinity = (_key: string, value: unknown): unknown => (value === NEVER ? Infinity : value);
