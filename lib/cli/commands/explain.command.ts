import { Command } from 'commander';
import { EXIT } from '../exit-code.js';
import { readName } from '../option-readers.js';
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
    .description('show the decision that a node would get now, and why: the answering node, or --group and --acquirer')
    .argument('<name>', 'name of the semaphore', readName)
    .option('--group <group>', 'with --hazelcast: group of the node (default: "default")')
    .option('--acquirer <name>', "with --hazelcast: name of the node (default: this host's name)")
    .option('--check', 'exit with 4 if a permit would be denied')
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

/** Whether no permit of any semaphore is granted. Then the answer says nothing about this semaphore. */
function isOutage(reason: Explanation['reason']): boolean {
  return reason === 'unavailable' || reason === 'no-quorum' || reason === 'closing';
}
