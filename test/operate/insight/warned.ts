import type { JobInfo, JobRuns, NodeInfo, RunEntry, RunningEntry, SemaphoreDefinition } from 'nestjs-gatekeeper';
import type { HolderState } from '../../../lib/core/context/answers.js';
import { NodeMatches } from '../../../lib/operate/activity/node-matches.js';
import { semaphoreOverview } from '../../../lib/operate/insight/overview.js';
import type { SemaphoreFacts } from '../../../lib/operate/insight/warnings.js';
import { intendedDefinition } from '../../../lib/core/decision/index.js';
import type { SemaphoreState } from '../../../lib/operate/insight/semaphore-answers.js';

export const NOW = Date.UTC(2026, 0, 10, 12);
export const MINUTE = 60_000;
export const DEFINITION: SemaphoreDefinition = {
  name: 'job',
  groupPattern: 'production',
  acquirerPattern: '.*',
  permits: 1,
  duration: 10_000,
};
export const EACH_MINUTE: JobInfo = {
  job: 'Jobs.work',
  semaphore: 'job',
  schedule: { kind: 'cron', expression: '* * * * *', next: NOW + 1, interval: MINUTE, recent: minutesAgo(3, 2, 1) },
};

export function minutesAgo(...minutes: number[]): number[] {
  return minutes.map((count) => NOW - count * MINUTE);
}

export function aNode(changes: Partial<NodeInfo> = {}): NodeInfo {
  const names = { group: 'production', acquirer: 'app1', instance: 'instance', host: 'host', pid: 1 };
  return {
    ...names,
    startedAt: NOW - 60 * MINUTE,
    at: NOW,
    heartbeat: 10_000,
    clock: {},
    jobs: [EACH_MINUTE],
    ...changes,
  };
}

export function aState(changes: Partial<SemaphoreState> = {}): SemaphoreState {
  const all = { name: 'job', definition: DEFINITION, revision: 1, isOverridden: false };
  return { ...all, holders: [], free: 1, isForThisNode: true, ...changes };
}

export function aRun(at: number, changes: Partial<RunEntry> = {}): RunEntry {
  const node = { group: 'production', acquirer: 'app1', instance: 'instance' };
  return { kind: 'run', semaphore: 'job', job: 'Jobs.work', node, at, took: 10, outcome: 'ok', ...changes };
}

/** A permit of `app2` in slot 0. */
export function aHolder(changes: Partial<HolderState> & Pick<HolderState, 'grantedAt' | 'expiresAt'>): HolderState {
  const who = { instance: 'other', holder: changes.instance ?? 'other', acquirer: 'app2', group: 'production' };
  const remaining = changes.expiresAt - NOW;
  return { id: 'p', slot: 0, token: 1, ...who, duration: 10 * MINUTE, remaining, isMine: false, ...changes };
}

function passingOf(state: SemaphoreState, nodes: NodeInfo[]): ReadonlySet<NodeInfo> {
  if (!state.definition) return new Set();
  const pieces = new NodeMatches(nodes).of(intendedDefinition(state)!);
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return value;
  }
}

export const NUMBERS = { ok: 0, failed: 0, lost: 0, crashed: 0 };

/** A stored past: it ran last at `at`. */
export function aPast(at: number, changes: Partial<JobRuns> = {}): JobRuns {
  const stored = { runs: [aRun(at)], running: [], failures: [], days: [], day: NUMBERS, week: NUMBERS };
  return { semaphore: 'job', job: 'Jobs.work', ...stored, schedule: '* * * * *', ...changes };
}

interface Known extends Partial<Pick<SemaphoreFacts, 'past' | 'heard'>> {
  readonly running?: readonly RunningEntry[];
}

/** The past of each job, with its last run and the runs that go on. */
function pastWith(runs: readonly RunEntry[], { past = [], running = [] }: Known): JobRuns[] {
  const names = new Set([...past, ...runs, ...running].map(({ job }) => job));
  return [...names].map((name) => {
    const of = <Entry extends { job: string }>(entries: readonly Entry[]) => entries.filter(({ job }) => job === name);
    const [known = aPast(NOW, { job: name, runs: [], schedule: undefined })] = of(past);
    const last = of(runs);
    return { ...known, runs: last.length > 0 ? last : known.runs, running: of(running) };
  });
}

export function warnings(state: SemaphoreState, nodes: NodeInfo[], runs: RunEntry[] = [], known: Known = {}) {
  return overview(state, nodes, runs, known).warnings;
}

export function overview(state: SemaphoreState, nodes: NodeInfo[], runs: RunEntry[] = [], known: Known = {}) {
  const jobs = nodes.flatMap((node) => node.jobs.map((card) => ({ card, node })));
  const passing = passingOf(state, nodes);
  const { heard } = known;
  const past = pastWith(runs, known);
  return semaphoreOverview(state, { now: NOW, clockTolerance: 500, nodes, passing, jobs, past, heard });
}

export function aRunningJob(at: number): RunningEntry {
  const { semaphore, job, node } = aRun(at);
  return { kind: 'running', semaphore, job, node, at, run: 1 };
}

export const codes = (...given: Parameters<typeof warnings>) => warnings(...given).map(({ code }) => code);
