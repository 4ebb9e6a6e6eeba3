import {
  LEADERSHIP_JOB,
  type SemaphoreDefinition,
  escapeHidden,
  patternFaults,
  shortestDuration,
} from '../../core/decision/index.js';
import type { SemaphoreState } from './semaphore-answers.js';

import { groupedBy } from './grouped.js';
import { withUnheard } from './heard-holders.js';
import { type MissedTimes, missedTimes } from './missed-runs.js';
import type { Warning } from './warning.js';
import { failedLately, overdueRun } from './run-warnings.js';
import type { ScheduledJob } from './scheduled-job.js';
import { formatDuration, formatTime } from './format-duration.js';
import { type JobRuns, type NodeInfo, type RunEntry, newestOf } from '../activity/index.js';

/** Facts about one semaphore besides its state. */
export interface SemaphoreFacts {
  /** Cluster time, ms since the epoch. */
  readonly now: number;
  /** clockTolerance of the reporting node, in ms. */
  readonly clockTolerance: number;
  /** Its jobs on living nodes. */
  readonly jobs: readonly ScheduledJob[];
  /** The stored past of each of its jobs, if they have one, and of its terms of leadership. */
  readonly past: readonly JobRuns[];
  /**
   * Whether a grant counts as a run of each of its jobs: only to find out whether it may be worth while to read their past.
   */
  readonly trustsGrants?: boolean;
  /** All living nodes. */
  readonly nodes: readonly NodeInfo[];
  /** Instances of the living nodes; absent if that is unknown. */
  readonly heard?: ReadonlySet<string> | undefined;
  /** Why its definition does not follow the code, for longer than a deploy. */
  readonly unfollowed?: string | undefined;
  /** Whether no living node has had it in its code, for longer than a deploy. */
  readonly isLeftOver?: boolean | undefined;
  /** Nodes that the definition matches, without regard to a pause. */
  readonly passing: ReadonlySet<NodeInfo>;
}

/**
 * Finds the warnings of one semaphore. Pure.
 *
 * @param definition the definition without regard to a pause
 */
export function warningsOf(state: SemaphoreState, definition: SemaphoreDefinition, facts: SemaphoreFacts): Warning[] {
  // The sentences contain names and patterns, which may have control characters.
  return found(state, definition, facts).map(({ code, sentence }) => ({ code, sentence: escapeHidden(sentence) }));
}

function found(state: SemaphoreState, definition: SemaphoreDefinition, facts: SemaphoreFacts): Warning[] {
  const { jobs, now } = facts;
  // A lost term of leadership is no failed run: other warnings tell of a scope without a leader.
  const past = facts.past.filter(({ job }) => job !== LEADERSHIP_JOB);
  const always = [
    ...tooShort(definition, facts.clockTolerance),
    ...unfollowed(state, facts),
    ...leftOver(state, facts),
    ...past.flatMap((job) => job.running.flatMap((run) => overdueRun(run, jobs, job, now))),
    ...newestOf(past).flatMap((run) => tooLongRun(run, jobs)),
    ...past.flatMap((job) => failedLately(job, now)),
  ];
  // Checked also during a pause, because no job would run after it.
  const unusable = patternFaults(definition).map((sentence) => ({ code: 'unusable-pattern' as const, sentence }));
  if (unusable.length > 0 || state.pause) return [...unusable, ...always];
  const without = noNode(definition, facts);
  return [...without, ...(without.length > 0 ? [] : notRun(state, facts)), ...silentHolders(state, facts), ...always];
}

/** Reports holders whose process is probably dead, or surely ended before its run: without a revoke, their permits stay until they expire. */
function silentHolders({ holders, free }: SemaphoreState, { heard, nodes, now, past }: SemaphoreFacts): Warning[] {
  const rest =
    free === 0
      ? 'No other node runs before that time, unless a revoke ends the permit'
      : `The ${free === 1 ? 'free slot' : `${free} free slots`} can be granted meanwhile`;
  const runs = newestOf(past);
  return withUnheard(holders, heard, now).flatMap(
    ({ isUnheard, remaining, group, acquirer, slot, token, expiresAt }) => {
      const cut = runs.find((run) => run.token === token && run.took === undefined && run.loss?.reason === 'closing');
      if (!(isUnheard || cut) || remaining <= 0) return [];
      // After a reload or a restart, a living process has the same name.
      const isReplaced = nodes.some((node) => node.group === group && node.acquirer === acquirer);
      const why = cut
        ? `it shut down before ${cut.job} had ended, and the run may work on, so its permit stays`
        : 'it crashed, is cut off, or publishes no heartbeat';
      const sentence =
        `${isReplaced ? 'a former process of ' : ''}${acquirer} is not heard of and holds slot ${slot} until ${formatTime(expiresAt)}: ` +
        `${why}. ${rest}`;
      return [{ code: 'holder-silent' as const, sentence }];
    },
  );
}

/** A removed semaphore that code defines, or that jobs of living nodes use: nothing ever runs under it, and nothing else says so. */
export function removedWarnings({ code, change, problem }: SemaphoreState, { jobs }: SemaphoreFacts): Warning[] {
  if (problem !== undefined || (!code && jobs.length === 0)) return [];
  const who = change?.kind === 'remove' ? ` by ${change.by}, ${formatTime(change.at)}` : '';
  const sentence = `it was removed${who}, but code of living nodes uses it: nothing runs until it is reset to the code`;
  return [{ code: 'removed', sentence: escapeHidden(sentence) }];
}

/** An operator's definition counts on all nodes, whatever their code says. */
function unfollowed({ source }: SemaphoreState, { unfollowed: sentence }: SemaphoreFacts): Warning[] {
  return source === 'code' && sentence !== undefined ? [{ code: 'code-not-followed', sentence }] : [];
}

/** After a rename, or when a module is no longer imported, a job is missing that nothing else misses. */
function leftOver({ source, holders }: SemaphoreState, { isLeftOver, jobs }: SemaphoreFacts): Warning[] {
  if (!isLeftOver || source !== 'code' || jobs.length > 0 || holders.length > 0) return [];
  const sentence =
    'no living node has it in its code any more, so nothing runs under it: start a node that has it, or, if it was renamed or ' +
    'left out on purpose, remove it';
  return [{ code: 'not-in-code', sentence }];
}

/** This happens if a node with a smaller tolerance has defined it. */
function tooShort({ duration }: SemaphoreDefinition, clockTolerance: number): Warning[] {
  const shortest = shortestDuration(clockTolerance);
  if (duration >= shortest) return [];
  const sentence =
    `its duration of ${duration} ms is too short for the clockTolerance of ${clockTolerance} ms of this node, ` +
    `which grants permits of ${shortest} ms instead: lengthen the duration or lower the tolerance`;
  return [{ code: 'duration-too-short', sentence }];
}

/** Without registry entries there is no warning: nodes may live without a heartbeat. */
function noNode({ groupPattern, acquirerPattern }: SemaphoreDefinition, { nodes, passing }: SemaphoreFacts): Warning[] {
  const { length } = nodes;
  if (length === 0 || passing.size > 0) return [];
  const who = length === 1 ? 'the only living node does not match' : `none of the ${length} living nodes matches`;
  const sentence = `${who} groupPattern "${groupPattern}" and acquirerPattern "${acquirerPattern}": nothing can run`;
  return [{ code: 'no-node', sentence }];
}

function tooLongRun({ job, took, at, node }: RunEntry, jobs: readonly ScheduledJob[]): Warning[] {
  const intervals = jobs.flatMap(({ card }) => (card.job === job ? (card.schedule?.interval ?? []) : []));
  const interval = Math.min(...intervals);
  if (took === undefined || !(took > interval)) return [];
  const sentence =
    `the last run of ${job} took ${formatDuration(took)} (started ${formatTime(at)}, on ${node.acquirer}): ` +
    `longer than the ${formatDuration(interval)} until it is due again`;
  return [{ code: 'runs-too-long', sentence }];
}

/** Finds jobs that were due and did not run. */
function notRun(state: SemaphoreState, facts: SemaphoreFacts): Warning[] {
  const byName = groupedBy(facts.jobs, ({ card }) => card.job);
  return [...byName].flatMap(([name, all]) => {
    const past = pastOf(name, facts);
    const jobs = all.filter(({ node }) => facts.passing.has(node));
    const ranAt = lastSign(name, state, facts);
    const missed = missedTimes({ jobs, past, ranAt: Math.max(ranAt, state.change?.at ?? 0), now: facts.now });
    if (!missed) return [];
    const last = ranAt > 0 ? `it ran last ${formatTime(ranAt)}` : 'no run of it is known';
    return [{ code: 'not-run' as const, sentence: `${name} ${missedWords(missed)}: ${last}` }];
  });
}

function missedWords({ first, count }: MissedTimes): string {
  if (count === undefined) return `did not run at any of its times since ${formatTime(first)}`;
  return `was due ${count === 1 ? '' : `${count} times since `}${formatTime(first)} and did not run`;
}

function pastOf(name: string, { past }: SemaphoreFacts): JobRuns | undefined {
  return past.find(({ job }) => job === name);
}

/**
 * Returns the last time at which a job ran, by its runs alone. A permit is no run: it outlasts a short run, and the death
 * of its holder. While a run goes on under its permit, and until its end, the next one is skipped.
 */
function lastSign(name: string, state: SemaphoreState, facts: SemaphoreFacts): number {
  const { running = [], runs: [run] = [] } = pastOf(name, facts) ?? {};
  // A run without a permit keeps no other node from the next one.
  if (running.some(({ loss }) => !loss)) return facts.now;
  const ended = Math.max(0, ...running.map(({ at }) => at), run ? run.at + (run.took ?? 0) : 0);
  const isUnwritten = facts.jobs.some(({ card, node }) => card.job === name && node.history === false);
  if (isUnwritten) return Math.max(ended, signOfLife(state, facts));
  return facts.trustsGrants ? Math.max(ended, takenAt(state)) : ended;
}

/**
 * Returns the last time at which a job may have run, if nodes write no runs. A live permit may belong to a run in
 * progress, unless its holder is dead; a grant starts a run.
 */
function signOfLife({ holders, lastGrantAt }: SemaphoreState, { heard, now }: SemaphoreFacts): number {
  const living = withUnheard(holders, heard, now).filter(({ isUnheard }) => !isUnheard);
  return living.some(({ remaining }) => remaining > 0) ? now : takenAt({ holders: living, lastGrantAt });
}

/** When a permit was last granted or refreshed: cluster time in ms. */
function takenAt({ holders, lastGrantAt = 0 }: Pick<SemaphoreState, 'holders' | 'lastGrantAt'>): number {
  return Math.max(lastGrantAt, ...holders.map(({ expiresAt, duration }) => expiresAt - duration));
}
