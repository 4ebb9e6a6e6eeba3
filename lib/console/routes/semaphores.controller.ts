import { systemClock } from '../../core/async/node-clock.js';
import { type Pieces, inSlices } from '../../core/async/slices.js';
import {
  type Explanation,
  type SemaphoreOverview,
  type StalePart,
  UnknownSemaphoreError,
  newestFirst,
  partsOf,
} from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { StoreUnavailableError } from '../../core/store/index.js';
import {
  type InputOf,
  ROUTES,
  type SemaphoreAnswer,
  type SemaphorePartsAnswer,
  type SemaphoresAnswer,
} from '../api/index.js';
import { changedParts } from '../http/changed-parts.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { isKnownToClient } from '../http/conditional.js';
import type { ConsoleRequest, ConsoleResponse } from '../http/console-request.js';
import type { Sees } from '../http/visitor.js';
import { Input, Req, Res, SeenNames } from '../http/input.decorator.js';
import { Serves } from '../http/handlers.js';

/** Serves the list of semaphores, single semaphores, and explanations. */
@ConsoleController()
export class SemaphoresController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.semaphores)
  async list(
    @Input() { query }: InputOf<typeof ROUTES.semaphores>,
    @Req() request: ConsoleRequest,
    @Res() response: ConsoleResponse,
    @SeenNames() sees: Sees,
  ): Promise<SemaphoresAnswer | undefined> {
    const { now, semaphores, stale } = await this.gatekeeper.overview();
    const wanted = await wantedOf(semaphores, query, sees);
    return (await isKnownToClient(request, response, essenceOf(wanted, stale)))
      ? undefined
      : { now, semaphores: wanted, stale };
  }

  /** The list for a page that stays open: it loads only the parts that changed. */
  @Serves(ROUTES.semaphoreParts)
  async parts(
    @Input() { query }: InputOf<typeof ROUTES.semaphoreParts>,
    @SeenNames() sees: Sees,
  ): Promise<SemaphorePartsAnswer> {
    const { now, semaphores, stale } = await this.gatekeeper.overview();
    const wanted = await wantedOf(semaphores, {}, sees);
    const { known, changed } = await inSlices(changedParts(wanted, query.known, shownOf), systemClock);
    return { now, known, changed, stale };
  }

  @Serves(ROUTES.semaphore)
  async one(@Input() { params: { name } }: InputOf<typeof ROUTES.semaphore>): Promise<SemaphoreAnswer> {
    const { now, semaphores, stale } = await this.gatekeeper.overview(name);
    const [semaphore] = semaphores;
    if (!semaphore) throw missing(name, stale);
    const { directory, living } = partsOf(this.gatekeeper);
    const [explanation, runs, audit] = await Promise.all([
      this.gatekeeper.explain(name),
      readable(this.gatekeeper.runs.find({ semaphore: name, limit: 100 })),
      readable(newestFirst({ semaphore: name, limit: 50 }, (limit) => this.gatekeeper.audit.read(limit))),
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
  }

  @Serves(ROUTES.explain)
  explain(@Input() { params: { name } }: InputOf<typeof ROUTES.explain>): Promise<Explanation> {
    return this.gatekeeper.explain(name);
  }
}

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

type Filter = InputOf<typeof ROUTES.semaphores>['query'];

/** The semaphores of an answer: those that match, and that the visitor may see. */
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
function* essenceOf(semaphores: readonly SemaphoreOverview[], stale: readonly StalePart[]): Generator<object> {
  yield stale;
  for (const semaphore of semaphores) {
    yield { ...semaphore, holders: semaphore.holders.map(({ id, slot, isUnheard }) => [id, slot, isUnheard]) };
  }
}

/** ms by which an expiry moves before a page loads it again. */
const EXPIRY_STEP = 10_000;

/** A semaphore as a page shows it: a countdown may lag by one refresh of a permit. */
function shownOf(semaphore: SemaphoreOverview): object {
  const holderOf = ({ id, slot, expiresAt, isUnheard }: SemaphoreOverview['holders'][number]) => [
    id,
    slot,
    Math.floor(expiresAt / EXPIRY_STEP),
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
