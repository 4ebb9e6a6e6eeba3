import type { Explanation } from '../../gatekeeper/index.js';
import { exactDuration } from '../../core/decision/texts/exact-duration.js';
import { plain } from '../text/plain.js';
import { fields, table } from '../text/table.js';
import { timeText } from '../text/times.js';

/** Formats the decision that a node would get now, and the reason. */
export function explanationText(explanation: Explanation): string {
  const { semaphore, outcome, sentence, definition, revision, pause, isStale, node, holders } = explanation;
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
    ['shown', isStale ? 'as this node last knew it' : undefined],
  ]);
  return [
    `${plain(semaphore)}: ${plain(sentence)}`,
    about,
    ...(holders.length > 0 ? ['', holdersTable(holders)] : []),
  ].join('\n');
}

function holdersTable(holders: Explanation['holders']): string {
  const rows = holders.map(({ slot, group, acquirer, instance, token, expiresAt, id }) => [
    String(slot),
    `${group}/${acquirer}`,
    instance,
    String(token),
    timeText(expiresAt),
    id,
  ]);
  return table(['slot', 'holder', 'instance', 'token', 'until', 'permit id'], rows);
}
