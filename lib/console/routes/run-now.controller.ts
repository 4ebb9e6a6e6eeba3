import { partsOf, type RunNowPlan, type RunNowStatus } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { type InputOf, ROUTES } from '../api/index.js';
import { ClientAbort } from '../http/client-abort.decorator.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Input, User } from '../http/input.decorator.js';
import { Serves } from '../http/serves.decorator.js';
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
  async run(
    @Input() { params: { name }, body: { job, wait, reason } }: InputOf<typeof ROUTES.runNow>,
    @User() by: string,
    @ClientAbort() signal: AbortSignal,
  ): Promise<RunNowStatus> {
    const target = { semaphore: name, ...(job !== undefined && { job }) };
    const options = { by, timeout: 0, ...(reason !== undefined && { reason }) };
    const asked = await this.gatekeeper.runNow(target, options);
    return wait > 0 ? this.#follow(by, name, asked.id, { timeout: wait, signal }) : asked;
  }

  @Serves(ROUTES.runStatus)
  status(
    @Input() { params: { name, id }, query: { wait } }: InputOf<typeof ROUTES.runStatus>,
    @User() user: string,
    @ClientAbort() signal: AbortSignal,
  ): Promise<RunNowStatus> {
    return this.#follow(user, name, id, { timeout: wait, signal });
  }

  #follow(user: string, name: string, id: string, options: { readonly timeout: number; readonly signal: AbortSignal }) {
    const { runNow } = partsOf(this.gatekeeper);
    const following = () => runNow.follow(name, id, options);
    return options.timeout > 0 ? this.#waits.during(user, following) : following();
  }
}
