import type { BodyOf, BulkResult, SemaphoreOverview } from '../api/answers.js';
import { ApiError } from '../api/api-error.js';
import { call } from '../api/call.js';
import type { Batch } from '../batches/use-batches.js';
import { BATCH } from '../batches/use-batches.js';
import type { Action } from '../forms/action-dialog.js';
import { count } from '../parts/format.js';

export type Verb = 'pause' | 'resume';
const CALLS = { pause: 'pauseAll', resume: 'resumeAll' } as const;
export const DONE: Readonly<Record<Verb, string>> = { pause: 'paused', resume: 'resumed' };

/** Characters of one pattern of names: the server allows 4,096. */
const LONGEST_PATTERN = 3000;
/** Names that the dialog lists. The others are counted. */
const MOST_NAMED = 50;

/** Whether a semaphore is not yet as the change makes it. */
export function isDue({ definition, pause }: SemaphoreOverview, verb: Verb): boolean {
  return definition !== undefined && (pause === undefined) === (verb === 'pause');
}

/** RE2 that matches exactly these names. */
function patternOf(names: readonly string[]): string {
  return names.map((name) => name.replaceAll(/[\\^$.|?*+()[\]{}]/g, String.raw`\$&`)).join('|');
}

/** The first names that fit into one call. */
function firstOf(names: readonly string[]): readonly string[] {
  let end = Math.min(names.length, BATCH);
  while (end > 1 && patternOf(names.slice(0, end)).length > LONGEST_PATTERN) end--;
  return names.slice(0, end);
}

/** The calls that pause or resume exactly these names, batch by batch, as one change of the audit log. */
export function changeNext(
  verb: Verb,
  names: readonly string[],
  reason: string | undefined,
): (signal: AbortSignal) => Promise<Batch> {
  let left = names;
  let bulk: string | undefined;
  return async (signal) => {
    const asked = firstOf(left);
    const body = { names: patternOf(asked), ...(reason && { reason }), ...(bulk && { bulk }) };
    const result = await changed(verb, body, signal);
    bulk = result?.bulk ?? bulk;
    const { done = [], remaining = 0 } = result ?? {};
    // A shard that can't be read fails, too. It has none of the chosen names: they were read.
    const failed = (result?.failed ?? []).filter(({ name }) => asked.includes(name));
    const ended = new Set([...done, ...failed.map(({ name }) => name)]);
    const others = asked.filter((name) => !ended.has(name));
    const rest = left.slice(asked.length);
    // The store gave no answer: what was not tried is tried again.
    left = remaining > 0 ? [...others, ...rest] : rest;
    const needless = remaining > 0 ? [] : others.map((name) => ({ name, error: NEEDLESS[verb] }));
    return { done, failed: [...failed, ...needless], remaining: left.length };
  };
}

const NEEDLESS: Readonly<Record<Verb, string>> = {
  pause: 'is paused already, or has no definition any more',
  resume: 'is not paused any more, or has no definition any more',
};

/** @returns undefined if none of the names has a definition any more */
async function changed(verb: Verb, body: BodyOf<'pauseAll'>, signal: AbortSignal): Promise<BulkResult | undefined> {
  try {
    return await call(CALLS[verb], { body }, { signal });
  } catch (error) {
    if (error instanceof ApiError && error.problem.code === 'nothing-matches') return undefined;
    throw error;
  }
}

/** The dialog that names what will change. @param start begins it; the page shows the progress */
export function chosenAction(
  verb: Verb,
  chosen: readonly SemaphoreOverview[],
  start: (names: readonly string[], reason: string | undefined) => void,
): Action {
  const names = chosen.filter((each) => isDue(each, verb)).map(({ name }) => name);
  const needless = chosen.length - names.length;
  const listed = names.slice(0, MOST_NAMED).join(', ');
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  const unchanged = needless === 0 ? '' : ` ${needless} of the chosen ${needless === 1 ? 'needs' : 'need'} no change.`;
  return {
    title: `${verb === 'pause' ? 'Pause' : 'Resume'} ${count(names.length, 'semaphore')}`,
    explanation:
      verb === 'pause'
        ? `No new run starts on any node until they are resumed: ${listed}${more}.${unchanged}`
        : `These may run again: ${listed}${more}.${unchanged}`,
    verb: verb === 'pause' ? 'Pause' : 'Resume',
    isDangerous: verb === 'pause',
    // Not awaited: the page shows the progress, and an open dialog would hide it.
    run: (reason) => Promise.resolve(void start(names, reason)),
  };
}
