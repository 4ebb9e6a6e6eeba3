import { Req, Res } from '@nestjs/common';
import {
  type Explanation,
  GatekeeperService,
  type SemaphoreOverview,
  UnknownSemaphoreError,
  newestFirst,
} from '../../gatekeeper/index.js';
import { type InputOf, ROUTES, type SemaphoreAnswer, type SemaphoresAnswer } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { isKnownToClient } from '../http/conditional.js';
import type { ConsoleRequest, ConsoleResponse } from '../http/console-request.js';
import { Input } from '../http/input.decorator.js';
import { Serves } from '../http/serves.decorator.js';

/** Looking at semaphores. */
@ConsoleController()
export class SemaphoresController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.semaphores)
  async list(
    @Input() { query }: InputOf<typeof ROUTES.semaphores>,
    @Req() request: ConsoleRequest,
    @Res({ passthrough: true }) response: ConsoleResponse,
  ): Promise<SemaphoresAnswer | undefined> {
    const { now, semaphores } = await this.gatekeeper.overview();
    const wanted = semaphores.filter((semaphore) => isWanted(semaphore, query));
    return isKnownToClient(request, response, essenceOf(wanted)) ? undefined : { now, semaphores: wanted };
  }

  @Serves(ROUTES.semaphore)
  async one(@Input() { params: { name } }: InputOf<typeof ROUTES.semaphore>): Promise<SemaphoreAnswer> {
    const {
      now,
      semaphores: [semaphore],
    } = await this.gatekeeper.overview(name);
    if (!semaphore) throw new UnknownSemaphoreError(name);
    const [explanation, runs, audit] = await Promise.all([
      this.gatekeeper.explain(name),
      newestFirst({ semaphore: name, limit: 100 }, (limit) => this.gatekeeper.history(limit)),
      newestFirst({ semaphore: name, limit: 50 }, (limit) => this.gatekeeper.audit.read(limit)),
    ]);
    return { now, semaphore, explanation, runs, audit };
  }

  @Serves(ROUTES.explain)
  explain(@Input() { params: { name } }: InputOf<typeof ROUTES.explain>): Promise<Explanation> {
    return this.gatekeeper.explain(name);
  }
}

/** All but for how long permits last: those of runs that go on are refreshed again and again. */
function essenceOf(semaphores: readonly SemaphoreOverview[]): string {
  return JSON.stringify(
    semaphores.map((semaphore) => ({ ...semaphore, holders: semaphore.holders.map(({ id, slot }) => [id, slot]) })),
  );
}

/** What was removed is shown only while somebody asks for it by name. */
function isWanted(
  { name, definition, problem, pause, isOverridden = false, holders }: SemaphoreOverview,
  { search, paused, overridden, held }: InputOf<typeof ROUTES.semaphores>['query'],
): boolean {
  const text = search?.toLowerCase();
  const isHeld = holders.some(({ remaining }) => remaining > 0);
  return (
    (definition !== undefined || problem !== undefined || text === name.toLowerCase()) &&
    (text === undefined || name.toLowerCase().includes(text)) &&
    (paused === undefined || paused === (pause !== undefined)) &&
    (overridden === undefined || overridden === isOverridden) &&
    (held === undefined || held === isHeld)
  );
}
