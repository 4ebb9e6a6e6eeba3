import type { Health, RequestResult } from '../../gatekeeper/index.js';
import { formatDuration } from '../../operate/insight/format-duration.js';
import { plain } from '../text/plain.js';
import { fields, table } from '../text/table.js';
import { timeText } from '../text/times.js';

/** Formats the health of a node, and each fault and warning with its start. */
export function healthText(health: Health): string {
  const { status, grants, now, faults, node, store, clock, latency, nodes, hasArchive, alerts = [] } = health;
  const about = fields([
    ['health', grants ? status : `${status}: nothing is granted`],
    ['node', `${node.group}/${node.acquirer}`],
    ['store', `${store.connected ? 'connected' : 'not connected'}, members ${store.members}, quorum ${store.quorum}`],
    ['latency', latency === undefined ? undefined : `${latency} ms, median of the last calls`],
    ['clocks', clock.offset === undefined ? 'not known' : `${clock.members} read, ${Math.round(clock.spread)}ms apart`],
    ['offset', clock.offset === undefined ? undefined : offsetText(clock)],
    ['nodes', nodes && `${nodes.count}, counted ${timeText(nodes.asOf)}`],
    ['archive', hasArchive ? archiveText(health) : undefined],
    ['shown', shownText(health)],
  ]);
  const rows = faults.map(({ code, since, sentence }) => [
    code,
    `${timeText(since)} (${formatDuration(now - since)} ago)`,
    sentence,
  ]);
  const warned = (health.warnings ?? []).map(({ code, semaphore, since, sentence }) => [
    code,
    semaphore,
    timeText(since),
    sentence,
  ]);
  const failing = health.parts.flatMap(({ part, answeredAt, failingSince }) =>
    failingSince === undefined
      ? []
      : [[part, timeText(failingSince), answeredAt === undefined ? 'never' : timeText(answeredAt)]],
  );
  const receivers = alerts.map(({ name, waiting, last }) => [
    name,
    String(waiting),
    last ? receiverText(last) : 'none yet',
  ]);
  return [
    about,
    ...section(['fault', 'since', 'what is wrong'], rows),
    ...section(['warning', 'semaphore', 'noticed', 'what is wrong'], warned),
    ...section(['calls', 'failing since', 'last answered'], failing),
    ...section(['receiver of alerts', 'waiting', 'last request'], receivers),
  ].join('\n');
}

function section(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return rows.length > 0 ? ['', table(head, rows)] : [];
}

/** @param clock.offset ms by which the node's clock is behind cluster time */
function offsetText({ offset = 0, errorBound = 0, suspect }: Health['clock']): string {
  const text = `this node ${Math.abs(Math.round(offset))}ms ${offset < 0 ? 'ahead' : 'behind'}, known to ${errorBound.toFixed(1)}ms`;
  return suspect === undefined ? text : `${text}; suspect: ${suspect}`;
}

function archiveText({ faults }: Health): string {
  return faults.some(({ code }) => code === 'archive-failing') ? 'failing' : 'written';
}

function receiverText(last: RequestResult): string {
  return `${timeText(last.at)}: ${resultText(last)}`;
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
