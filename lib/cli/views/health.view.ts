import type { Columns } from '../../console/lists/column.js';
import { type MaybeStale, type StalePart, partName, stalePart } from '../../core/context/stale.js';
import { CALL_COLUMNS, FAULT_COLUMNS, RECEIVER_COLUMNS, WARNING_COLUMNS } from '../../console/lists/health.js';
import type { Health } from '../../gatekeeper/index.js';
import { plain } from '../text/plain.js';
import { cellsOf, fields, table } from '../text/table.js';
import { timeText } from '../../console/lists/texts.js';

/** Formats the health of a node, and each fault and warning with its start. */
export function healthText(health: Health): string {
  const {
    status,
    grants,
    now,
    faults,
    node,
    store,
    clock,
    latency,
    nodes,
    hasArchive,
    parts,
    warnings = [],
    alerts = [],
  } = health;
  const about = fields([
    ['health', grants ? status : `${status}: nothing is granted`],
    ['node', `${node.group}/${node.acquirer}`],
    ['store', `${store.connected ? 'connected' : 'not connected'}, members ${store.members}, quorum ${store.quorum}`],
    ['latency', latency === undefined ? undefined : `${latency} ms, median of the last calls`],
    ['clocks', clock.offset === undefined ? 'not known' : `${clock.members} read, ${Math.round(clock.spread)}ms apart`],
    ['offset', clock.offset === undefined ? undefined : offsetText(clock)],
    ['nodes', nodes && `${nodes.count}, counted ${timeText(nodes.asOf)}`],
    ['archive', hasArchive ? archiveText(health) : undefined],
    ...(health.stale ?? []).map((each) => ['shown', shownText(each)] as const),
  ]);
  const failing = parts.filter(({ failingSince }) => failingSince !== undefined);
  return [
    about,
    ...section(FAULT_COLUMNS, faults, now),
    ...section(WARNING_COLUMNS, warnings, now),
    ...section(CALL_COLUMNS, failing, now),
    ...section(RECEIVER_COLUMNS, alerts, now),
  ].join('\n');
}

function section<Row>(columns: Columns<Row>, rows: readonly Row[], now: number): string[] {
  return rows.length > 0 ? ['', table(...cellsOf(columns, rows, now))] : [];
}

/** @param clock.offset ms by which the node's clock is behind cluster time */
function offsetText({ offset = 0, errorBound = 0, suspect }: Health['clock']): string {
  const text = `this node ${Math.abs(Math.round(offset))}ms ${offset < 0 ? 'ahead' : 'behind'}, known to ${errorBound.toFixed(1)}ms`;
  return suspect === undefined ? text : `${text}; suspect: ${suspect}`;
}

function archiveText({ faults }: Health): string {
  return faults.some(({ code }) => code === 'archive-failing') ? 'failing' : 'written';
}

/** How old a part is that is not current. */
function shownText(entry: StalePart): string {
  const { since } = entry;
  const name = partName(entry);
  return since === undefined ? `nothing is known about the ${name}` : `${name} as of ${timeText(since)}`;
}

/** A line for each part of an answer that is not current: its age, and why it could not be read. */
export function staleLines({ stale = [] }: MaybeStale): string[] {
  return stale.map((each) => plain(`NOT CURRENT, ${shownText(each)}: ${each.sentence}.`));
}

/** The warnings above an answer that may be old. The line of an outage tells the age, too. */
export function warningLines(health: Health, answer: MaybeStale): string[] {
  const outage = outageLines(health);
  return outage.length > 0 && stalePart(health, 'records') ? outage : [...outage, ...staleLines(answer)];
}

/** The line of an outage. Empty while permits are granted. */
export function outageLines(health: Health): string[] {
  const { grants, faults } = health;
  const fault = faults.find(({ stopsGrants }) => stopsGrants);
  if (grants || !fault) return [];
  const semaphores = stalePart(health, 'records');
  const head = `NOTHING IS GRANTED since ${timeText(fault.since)}: ${fault.sentence}.`;
  return [plain(semaphores ? `${head} ${ageOf(semaphores)}` : head)];
}

function ageOf({ since }: StalePart): string {
  return since === undefined ? 'No data are known.' : `The data are as of ${timeText(since)}.`;
}
