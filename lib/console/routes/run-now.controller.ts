import { partsOf, type RunNowPlan, type RunNowStatus } from '../../gatekeeper/index.js';
import { omitUndefined } from '../../core/decision/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { type InputOf, ROUTES } from '../api/index.js';
import { ClientAbort } from '../http/client-abort.decorator.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Input, User } from '../http/input.decorator.js';
import { Serves } from '../http/handlers.js';
import { Waits } from './waits.js';

/** Runs jobs now, with the visitor's name as the author. */
@ConsoleController()
export class RunNowController {
  readonly #waits = new Waits();

  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.runPlan)
  plan(@Input() { params: { name } }: InputOf<typeof ROUTES.runPlan>): Promise<RunNowPlan> {
    return partsOf(this.gatekeeper).runNow.plan(name);
  }

  @Serves(ROUTES.runNow)
  run(
    @Input() { params: { name }, body: { job, wait, reason } }: InputOf<typeof ROUTES.runNow>,
    @User() by: string,
    @ClientAbort() signal: AbortSignal,
  ): Promise<RunNowStatus> {
    const { runNow } = partsOf(this.gatekeeper);
    const options = { by, timeout: wait, ...(reason !== undefined && { reason }) };
    // The place among the waiting requests comes first: a refusal must mean that nothing was asked for.
    return this.#waiting(by, wait, () => runNow.run(omitUndefined({ semaphore: name, job }), options, signal));
  }

  @Serves(ROUTES.runStatus)
  status(
    @Input() { params: { name, id }, query: { wait } }: InputOf<typeof ROUTES.runStatus>,
    @User() user: string,
    @ClientAbort() signal: AbortSignal,
  ): Promise<RunNowStatus> {
    const { runNow } = partsOf(this.gatekeeper);
    return this.#waiting(user, wait, () => runNow.follow(name, id, { timeout: wait, signal }));
  }

  #waiting<T>(user: string, timeout: number, work: () => Promise<T>): Promise<T> {
    return timeout > 0 ? this.#waits.during(user, work) : work();
  }
}
