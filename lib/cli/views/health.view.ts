import type { Health, RequestResult } from '../../gatekeeper/index.js';
import { formatDuration } from '../../insight/format-duration.js';
import { plain } from '../text/plain.js';
import { fields, table } from '../text/table.js';
import { timeText } from '../text/times.js';

/** Formats the health of a node, and each fault with its start. */
export function healthText(health: Health): string {
  const { status, grants, now, faults, node, store, clock } = health;
  const about = fields([
    ['health', grants ? status : `${status}: nothing is granted`],
    ['node', `${node.group}/${node.acquirer}`],
    ['store', `${store.connected ? 'connected' : 'not connected'}, members ${store.members}, quorum ${store.quorum}`],
    ['clocks', clock.offset === undefined ? 'not known' : `${clock.members} read, ${Math.round(clock.spread)}ms apart`],
    ['shown', shownText(health)],
  ]);
  const rows = faults.map(({ code, since, sentence }) => [
    code,
    `${timeText(since)} (${formatDuration(now - since)} ago)`,
    sentence,
  ]);
  return [about, ...(rows.length > 0 ? ['', table(['fault', 'since', 'what is wrong'], rows)] : [])].join('\n');
}

/** How a receiver of alerts answered, and how fast. */
export function resultText({ status, problem, took }: RequestResult): string {
  return `${plain(problem ?? `accepted (${status})`)}, ${formatDuration(took)}`;
}

function shownText({ isStale, staleSince }: Health): string | undefined {
  if (!isStale) return undefined;
  return staleSince === undefined
    ? 'nothing is known about the semaphores'
    : `semaphores as of ${timeText(staleSince)}`;
}

/** The warning above an answer that may be old. Empty while permits are granted. */
export function outageLines({ grants, faults, isStale, staleSince }: Health): string[] {
  const fault = faults.find(({ stopsGrants }) => stopsGrants);
  if (grants || !fault) return [];
  const age = staleSince === undefined ? 'No data are known.' : `The data are as of ${timeText(staleSince)}.`;
  const head = `NOTHING IS GRANTED since ${timeText(fault.since)}: ${fault.sentence}.`;
  return [plain(isStale ? `${head} ${age}` : head)];
}
