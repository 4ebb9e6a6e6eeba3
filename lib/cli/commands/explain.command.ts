import { Command } from 'commander';
import { EXIT } from '../exit-code.js';
import type { Runner } from '../session.js';
import type { Explanation } from '../../gatekeeper/index.js';
import { explanationText } from '../views/explanation.view.js';

interface ExplainOptions {
  readonly group?: string;
  readonly acquirer?: string;
  readonly check?: true;
}

export function explainCommand(runner: Runner): Command {
  return new Command('explain')
    .description('show what would be decided now, and why: on the node that answers, or for --group and --acquirer')
    .argument('<name>', 'of the semaphore')
    .option('--group <group>', 'directly to Hazelcast: of the node in question (default: "default")')
    .option('--acquirer <name>', "directly to Hazelcast: of the node in question (default: this host's name)")
    .option('--check', 'end with 4 when a permit would be denied')
    .action(
      runner.action<ExplainOptions, [string]>(async (session, { group, acquirer, check }, name) => {
        const explanation = await session.operate((operator) => operator.explain(name), { group, acquirer });
        session.output.result(explanation, explanationText);
        if (isOutage(explanation.reason)) return EXIT.unreachable;
        if (explanation.reason === 'no-definition') return EXIT.notFound;
        return check && explanation.outcome === 'denied' ? EXIT.conflict : EXIT.done;
      }),
    );
}

/** Nothing is granted at all: no answer about this semaphore. */
function isOutage(reason: Explanation['reason']): boolean {
  return reason === 'unavailable' || reason === 'no-quorum' || reason === 'closing';
}
