import type { z } from 'zod';
import { systemClock } from '../../core/async/node-clock.js';
import { type Pieces, inSlices } from '../../core/async/slices.js';
import { stalePart, staleOf } from '../../core/context/stale.js';
import { StoreUnavailableError } from '../../core/store/index.js';
import { type MaybeStale, type SemaphoreOverview, UnknownSemaphoreError } from '../../gatekeeper/index.js';
import { newestFirst } from '../../operate/activity/newest-first.js';
import * as answers from './answers.js';
import { type Sees, overviewFor } from './caller.js';
import { changedParts } from './changed-parts.js';
import { explanationSchema } from '../../core/permits/answers.js';
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
      const { now, semaphores, ...read } = await overviewFor(caller, parts);
      return { now, semaphores: await wantedOf(semaphores, query, caller.sees), ...staleOf(read) };
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
      const { now, semaphores, ...read } = await overviewFor(caller, parts);
      const wanted = await wantedOf(semaphores, {}, caller.sees);
      const parted = await inSlices(changedParts(wanted, query.known, shownOf), systemClock);
      return { now, ...parted, ...staleOf(read) };
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
      const overview = await parts.overviews.read(name);
      const { now, semaphores } = overview;
      const [semaphore] = semaphores;
      if (!semaphore) throw missing(name, overview);
      const { directory, living, explain, health } = parts;
      const none = () => undefined;
      const [explanation, runs, audit] = await Promise.all([
        explain(name),
        health.read('runs', () => parts.runs.find({ semaphore: name, limit: 100 }), none),
        health.read(
          'audit',
          () => newestFirst({ semaphore: name, limit: 50 }, (limit) => parts.audit.read(limit)),
          none,
        ),
      ]);
      return {
        now,
        semaphore,
        explanation,
        definedBy: directory.declared.nodesWith(name, living.knownCodes),
        ...(runs.value && { runs: runs.value }),
        ...(audit.value && { audit: audit.value }),
        // The age of the last known runs is part of the answer, even if their list is left out.
        ...staleOf(audit, runs, overview),
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
function missing(name: string, overview: MaybeStale): Error {
  const unread = stalePart(overview, 'records');
  return unread ? new StoreUnavailableError(unread.sentence) : new UnknownSemaphoreError(name);
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
  yield { stale };
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
