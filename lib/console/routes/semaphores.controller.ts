import {
  type Explanation,
  GatekeeperService,
  type SemaphoreOverview,
  UnknownSemaphoreError,
  newestFirst,
} from '../../gatekeeper/index.js';
import { type InputOf, ROUTES, type SemaphoreAnswer, type SemaphoresAnswer } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Input } from '../http/input.decorator.js';
import { Serves } from '../http/serves.decorator.js';

/** Looking at semaphores. */
@ConsoleController()
export class SemaphoresController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.semaphores)
  async list(@Input() { query }: InputOf<typeof ROUTES.semaphores>): Promise<SemaphoresAnswer> {
    const { now, semaphores } = await this.gatekeeper.overview();
    return { now, semaphores: semaphores.filter((semaphore) => isWanted(semaphore, query)) };
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
