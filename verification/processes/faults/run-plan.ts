import { join } from 'node:path';
import { runFault, type FaultResult } from './run-fault.js';
import type { Lacks } from './needs.js';
import type { Leg, Plan } from './plan.js';
import type { Failure, Run } from './results.js';
import type { FaultSite } from './fault-site.js';
import { ServerSite } from './server-site.js';
import { Site } from './site.js';

export type Outcome = Pick<Run, 'results' | 'failures'>;

export interface PlanOptions {
  readonly seed: number;
  /** ms for each fault. */
  readonly lasts: number;
  readonly folder: string;
  readonly lacks: Lacks;
  readonly print: (text: string) => void;
  /** Called with the outcome of each site as soon as all its faults ran: the next ones may take an hour. */
  readonly keep?: (outcome: Outcome) => Promise<void>;
  /** Ends the run, and everything that was started. */
  readonly signal?: AbortSignal;
}

/**
 * Runs a plan, a line a fault.
 *
 * @throws the signal's reason when it aborts
 */
export async function runPlan({ legs, skipped }: Plan, options: PlanOptions): Promise<Outcome> {
  for (const line of skipped) options.print(`skipped: ${line}`);
  const outcomes: Outcome[] = [];
  for (const leg of legs) {
    const results: FaultResult[] = [];
    const failures: Failure[] = [];
    try {
      await runLeg(leg, options, results);
    } catch (error) {
      options.signal?.throwIfAborted();
      const failure = failureOf(leg, results, error as Error);
      failures.push(failure);
      options.print(failure.text);
    }
    outcomes.push({ results, failures });
    await options.keep?.({ results, failures });
  }
  return {
    results: outcomes.flatMap(({ results }) => results),
    failures: outcomes.flatMap(({ failures }) => failures),
  };
}

function failureOf({ site, faults }: Leg, results: readonly FaultResult[], { stack }: Error): Failure {
  const done = new Set(results.map(({ fault }) => fault));
  const names = faults.map(({ name }) => name).filter((name) => !done.has(name));
  return { store: site.store, faults: names, text: String(stack) };
}

async function runLeg({ site: kind, faults }: Leg, options: PlanOptions, results: FaultResult[]): Promise<void> {
  const { folder, lacks, print, signal } = options;
  signal?.throwIfAborted();
  const name = nameOf(kind);
  print(
    `${'quorum' in kind ? 'three members' : 'a server'} for ${name}: ${faults.map((fault) => fault.name).join(', ')}`,
  );
  await using site = await openSite(kind, lacks, join(folder, name));
  // An interruption stops the site, which ends the fault that is under way.
  const end = () => void site[Symbol.asyncDispose]();
  signal?.addEventListener('abort', end);
  try {
    for (const fault of faults) {
      signal?.throwIfAborted();
      const result = await runFault(site, fault, options);
      signal?.throwIfAborted();
      results.push(result);
      print(line(result));
      if (result.violations.length > 0)
        print(`${result.violations.join('\n')}\n${result.story}\nhistory: ${result.history}`);
    }
  } finally {
    signal?.removeEventListener('abort', end);
  }
}

function nameOf(kind: Leg['site']): string {
  if (!('quorum' in kind)) return kind.store;
  return [kind.store, !kind.quorum && 'no-quorum', kind.memberClock && 'clock'].filter(Boolean).join('-');
}

function openSite(kind: Leg['site'], lacks: Lacks, folder: string): Promise<FaultSite> {
  if (!('quorum' in kind)) return ServerSite.open({ ...kind, folder });
  return Site.open({ ...kind, namespaces: lacks.namespaces === undefined, folder });
}

function line({ store, fault, seconds, injections, figures, recovery, allocation, violations }: FaultResult): string {
  const recovered = `recovered within ${(recovery / 1000).toFixed(1)} s`;
  const converged = `owners settled within ${(Math.max(0, ...allocation.convergences) / 1000).toFixed(1)} s`;
  const counts = `${injections} injections, ${figures.grants} grants, ${recovered}, ${converged}`;
  return `${store} ${fault}: ${seconds.toFixed(0)} s, ${counts}, ${violations.length} violations`;
}
