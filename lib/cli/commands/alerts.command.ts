import { Argument, Command } from 'commander';
import { EXIT, type ExitCode } from '../options/exit-code.js';
import { TEST_COLUMNS } from '../../console/lists/health.js';
import { OPERATIONS } from '../operator/operator.js';
import type { Runner } from '../session/session.js';
import { cellsOf, table } from '../text/table.js';

export function alertsCommand(runner: Runner): Command {
  return new Command('alerts')
    .description('send a test to the receivers of alerts; exits with 1 if one did not accept it')
    .addArgument(new Argument('<action>', 'what to do').choices(['test']))
    .action(
      runner.action<object, ['test']>(async (session): Promise<ExitCode> => {
        const test = await session.operate((operator) => operator.show(OPERATIONS.testAlerts, { body: {} }));
        session.output.result(test, ({ results }) => table(...cellsOf(TEST_COLUMNS, results)));
        return test.results.every(({ problem }) => problem === undefined) ? EXIT.done : EXIT.failed;
      }),
    );
}
