import type { z } from 'zod';
import { systemClock } from '../../core/async/node-clock.js';
import { type Pieces, inSlices } from '../../core/async/slices.js';
import { StoreUnavailableError } from '../../core/store/index.js';
import { type SemaphoreOverview, type StalePart, UnknownSemaphoreError } from '../../gatekeeper/index.js';
import { newestFirst } from '../../operate/activity/newest-first.js';
import * as answers from './answers.js';
import { type Sees, overviewFor } from './caller.js';
import { changedParts } from './changed-parts.js';
import { explanationSchema } from './entities.js';
import { operation } from './operation.js';
import * as requests from './requests.js';

/** Shows the list of semaphores, and single semaphores. */
export const SEMAPHORE_OPERATIONS = {
  semaphores: operation({
    operationId: 'listSemaphores',
    method: 'GET',
    path: 'api/semaphores',
    summary: 'All semaphores with their holders',
    role: 'view',
    query: requests.semaphoresQuery,
    answer: answers.semaphoresSchema,
    run: async (parts, { query }, caller) => {
      const { now, semaphores, stale } = await overviewFor(caller, parts);
      return { now, semaphores: await wantedOf(semaphores, query, caller.sees), stale: [...stale] };
    },
    essence: essenceOf,
  }),
  /** The list for a client that follows it, as the page does: it loads only the parts that changed. */
  semaphoreParts: operation({
    operationId: 'listSemaphoreParts',
    method: 'GET',
    path: 'api/semaphore-parts',
    summary: 'The parts of the list of semaphores that changed since the last answer',
    role: 'view',
    query: requests.semaphorePartsQuery,
    answer: answers.semaphorePartsSchema,
    run: async (parts, { query }, caller) => {
      const { now, semaphores, stale } = await overviewFor(caller, parts);
      const wanted = await wantedOf(semaphores, {}, caller.sees);
      const parted = await inSlices(changedParts(wanted, query.known, shownOf), systemClock);
      return { now, ...parted, stale };
    },
  }),
  semaphore: operation({
    operationId: 'getSemaphore',
    method: 'GET',
    path: 'api/semaphores/:name',
    summary: 'One semaphore with its holders, runs and changes',
    role: 'view',
    isHeavy: true,
    params: requests.nameParams,
    answer: answers.semaphoreSchema,
    problems: ['unknown-semaphore', 'corrupt-record', 'newer-record'],
    run: async (parts, { params: { name } }) => {
      const { now, semaphores, stale } = await parts.overviews.read(name);
      const [semaphore] = semaphores;
      if (!semaphore) throw missing(name, stale);
      const { directory, living, explain } = parts;
      const [explanation, runs, audit] = await Promise.all([
        explain(name),
        readable(parts.runs.find({ semaphore: name, limit: 100 })),
        readable(newestFirst({ semaphore: name, limit: 50 }, (limit) => parts.audit.read(limit))),
      ]);
      const unread = [...unreadPart('audit', audit), ...unreadPart('runs', runs), ...stale];
      return {
        now,
        semaphore,
        explanation,
        definedBy: directory.declared.nodesWith(name, living.knownCodes),
        ...(Array.isArray(runs) && { runs }),
        ...(Array.isArray(audit) && { audit }),
        // The age of the last known runs is part of the answer, even if their list is left out.
        stale: [...new Map(unread.map((each) => [each.part, each])).values()],
      };
    },
  }),
  explain: operation({
    operationId: 'explainSemaphore',
    method: 'GET',
    path: 'api/explain/:name',
    summary: 'The decision that this node would get now, with the reason',
    role: 'view',
    params: requests.nameParams,
    answer: explanationSchema,
    problems: ['corrupt-record', 'newer-record'],
    run: ({ explain }, { params }) => explain(params.name),
  }),
};

/** The error for a name that this node does not know. If the store is unreachable, the name may still be defined. */
function missing(name: string, stale: readonly StalePart[]): Error {
  const unread = stale.find(({ part }) => part === 'records');
  return unread ? new StoreUnavailableError(unread.sentence) : new UnknownSemaphoreError(name);
}

/** @returns the entries, or the error if the store can't be asked */
function readable<Entry>(reading: Promise<Entry[]>): Promise<Entry[] | StoreUnavailableError> {
  return reading.catch((error: unknown) => {
    if (error instanceof StoreUnavailableError) return error;
    throw error;
  });
}

function unreadPart(part: StalePart['part'], read: readonly unknown[] | StoreUnavailableError): StalePart[] {
  return read instanceof StoreUnavailableError ? [{ part, sentence: read.message }] : [];
}

type Filter = z.output<typeof requests.semaphoresQuery>;

/** The semaphores of an answer: those that match, and that the caller may see. */
function wantedOf(all: readonly SemaphoreOverview[], filter: Filter, sees: Sees): Promise<SemaphoreOverview[]> {
  const isShown = (semaphore: SemaphoreOverview) => (!sees || sees(semaphore.name)) && isWanted(semaphore, filter);
  return inSlices(filteredInPieces(all, isShown), systemClock);
}

function* filteredInPieces<T>(items: readonly T[], isShown: (item: T) => boolean): Pieces<T[]> {
  const shown: T[] = [];
  for (const item of items) {
    if (isShown(item)) shown.push(item);
    yield 1;
  }
  return shown;
}

/** The answer without the times of permits, which change with each refresh. */
function* essenceOf({ semaphores, stale }: answers.SemaphoresAnswer): Generator<object> {
  yield stale;
  for (const semaphore of semaphores) {
    yield { ...semaphore, holders: semaphore.holders.map(({ id, slot, isUnheard }) => [id, slot, isUnheard]) };
  }
}

/** ms by which an expiry moves before a client loads it again. */
const EXPIRY_STEP = 10_000;

/** A semaphore as a client that follows it shows it: a countdown may lag by one refresh of a permit. */
function shownOf(semaphore: SemaphoreOverview): object {
  const holderOf = ({ id, slot, expiresAt, remaining, isUnheard }: SemaphoreOverview['holders'][number]) => [
    id,
    slot,
    Math.floor(expiresAt / EXPIRY_STEP),
    remaining > 0,
    isUnheard,
  ];
  return { ...semaphore, holders: semaphore.holders.map(holderOf) };
}

/** Whether a semaphore is part of the answer. A removed one is only if it has a warning, or if `search` is its name. */
function isWanted(
  { name, definition, problem, pause, isOverridden = false, holders, warnings }: SemaphoreOverview,
  { search, paused, overridden, held }: Filter,
): boolean {
  const text = search?.toLowerCase();
  const isHeld = holders.some(({ remaining }) => remaining > 0);
  return (
    (definition !== undefined || problem !== undefined || warnings.length > 0 || text === name.toLowerCase()) &&
    (text === undefined || name.toLowerCase().includes(text)) &&
    (paused === undefined || paused === (pause !== undefined)) &&
    (overridden === undefined || overridden === isOverridden) &&
    (held === undefined || held === isHeld)
  );
}
