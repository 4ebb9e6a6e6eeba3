import { Command } from 'commander';
import { HOLDER_COLUMNS } from '../../console/lists/semaphores.js';
import { EXIT } from '../options/exit-code.js';
import { OPERATIONS } from '../operator/operator.js';
import type { AssuredOperator } from '../session/assured.js';
import { readName } from '../options/option-readers.js';
import type { Runner } from '../session/session.js';
import type { Explanation } from '../../gatekeeper/index.js';
import { isCurrent } from '../../core/context/stale.js';
import { exactDuration } from '../../core/decision/texts/exact-duration.js';
import { plain } from '../text/plain.js';
import { cellsOf, fields, table } from '../text/table.js';
import { timeText } from '../../console/lists/texts.js';

interface ExplainOptions {
  readonly group?: string;
  readonly acquirer?: string;
  readonly check?: true;
}

export function explainCommand(runner: Runner): Command {
  return new Command('explain')
    .description('show the decision that a node would get now, and why: the answering node, or --group and --acquirer')
    .argument('<name>', 'name of the semaphore', readName)
    .option('--group <group>', 'with --store: group of the node (default: "default")')
    .option('--acquirer <name>', "with --store: name of the node (default: this host's name)")
    .option('--check', 'exit with 4 if a permit would be denied')
    .action(
      runner.action<ExplainOptions, [string]>(async (session, { group, acquirer, check }, name) => {
        const explanation = await session.operate((operator) => explain(operator, name), { group, acquirer });
        session.output.result(explanation, explanationText);
        if (isOutage(explanation.reason)) return EXIT.unreachable;
        if (explanation.reason === 'no-definition') return EXIT.notFound;
        return check && explanation.outcome === 'denied' ? EXIT.conflict : EXIT.done;
      }),
    );
}

/** During an outage the explanation is the outage. */
async function explain(operator: AssuredOperator, name: string): Promise<Explanation> {
  const explanation = await operator.show(OPERATIONS.explain, { params: { name } });
  if (explanation.reason === 'no-definition') await operator.expectKnown();
  return explanation;
}

/** Whether no permit of any semaphore is granted. Then the answer says nothing about this semaphore. */
function isOutage(reason: Explanation['reason']): boolean {
  return reason === 'unavailable' || reason === 'no-quorum' || reason === 'closing';
}

/** Formats the decision that a node would get now, and the reason. */
function explanationText(explanation: Explanation): string {
  const { semaphore, outcome, sentence, definition, revision, pause, node, holders } = explanation;
  const about = fields([
    ['outcome', outcome],
    ['for', `${node.group}/${node.acquirer}`],
    ['paused', pause && `by ${pause.by}, ${timeText(pause.at)}${pause.reason ? `: ${pause.reason}` : ''}`],
    // During a pause, the pattern that applies afterwards, because the present one matches nothing.
    ['group', pause?.groupPattern ?? definition?.groupPattern],
    ['acquirer', definition?.acquirerPattern],
    ['permits', definition && String(definition.permits)],
    ['duration', definition && exactDuration(definition.duration)],
    ['revision', revision === undefined ? undefined : String(revision)],
    ['shown', isCurrent(explanation) ? undefined : 'as this node last knew it'],
  ]);
  return [
    `${plain(semaphore)}: ${plain(sentence)}`,
    about,
    ...(holders.length > 0 ? ['', table(...cellsOf(HOLDER_COLUMNS, holders))] : []),
  ].join('\n');
}
