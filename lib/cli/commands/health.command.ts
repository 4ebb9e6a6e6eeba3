import { Command } from 'commander';
import type { Health } from '../../gatekeeper/index.js';
import { EXIT, type ExitCode } from '../options/exit-code.js';
import { OPERATIONS } from '../operator/operator.js';
import type { Runner } from '../session/session.js';
import { healthText } from '../views/health.view.js';

const EXIT_CODES: Record<Health['status'], ExitCode> = {
  healthy: EXIT.done,
  degraded: EXIT.failed,
  down: EXIT.unreachable,
};

export function healthCommand(runner: Runner): Command {
  return new Command('health')
    .description(
      'show whether permits are granted, and all faults with their start; exits with 1 if degraded, 6 if down',
    )
    .action(
      runner.action(async (session) => {
        const health = await session.operate((operator) => operator.show(OPERATIONS.health));
        session.output.result(health, healthText);
        return EXIT_CODES[health.status];
      }),
    );
}
