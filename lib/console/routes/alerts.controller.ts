import { partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { Allowance, type Rate } from '../access/allowance.js';
import type { AlertsTest } from '../api/alerts.js';
import { type InputOf, ROUTES } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Input } from '../http/input.decorator.js';
import { ProblemError } from '../http/problem.error.js';
import { Serves } from '../http/handlers.js';

/** Limit of tests of all visitors together, because each one sends requests to other machines. */
const TESTS: Rate = { atOnce: 3, perSecond: 0.1 };

/** Tests the receivers of alerts. Their addresses come only from the application's options. */
@ConsoleController()
export class AlertsController {
  readonly #tests = new Allowance(TESTS);

  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.testAlerts)
  async test(@Input() _checked: InputOf<typeof ROUTES.testAlerts>): Promise<AlertsTest> {
    const { alerts } = partsOf(this.gatekeeper);
    if (!alerts) throw new ProblemError('no-alerts', 'this node has no receivers: give it the option alerts');
    const wait = this.#tests.take('all');
    if (wait === 0) return { results: await alerts.test() };
    const seconds = Math.ceil(wait / 1000);
    throw new ProblemError('too-many-tests', `test again after ${seconds} s`, { retryAfter: seconds });
  }
}
