import { LOSS_WORDS } from '../../../core/context/loss-words.js';
import { formatDuration } from '../../../operate/insight/format-duration.js';
import type { AuditEntry, HistoryEntry, HolderOverview } from '../api/answers.js';
import { count } from '../parts/format.js';
import type { StoryEntry } from '../parts/story.js';

type Ran = Exclude<HistoryEntry, { kind: 'skip' }>;

/**
 * The events of a run, oldest first, with the changes that people made to its semaphore meanwhile.
 *
 * @param changes of its semaphore, from the audit log
 * @param permit of a run that goes on
 * @param now cluster time in ms
 */
export function storyOf(
  run: Ran,
  changes: readonly AuditEntry[],
  permit: HolderOverview | undefined,
  now: number,
): StoryEntry[] {
  const end = endOf(run);
  const until = end?.at ?? now;
  const entries = [
    ...(run.missed === undefined ? [] : [{ at: run.missed, title: 'was planned', detail: 'and missed' }]),
    beginOf(run),
    ...changes.filter(({ at }) => at > run.at && at <= until).map(changeOf),
    ...renewalOf(permit),
    ...lossOf(run),
    ...(end ? [end] : []),
  ];
  // Of the same ms, an end comes last: the sort is stable.
  return entries.toSorted((one, other) => one.at - other.at);
}

/** The outcome as a sentence. */
export function sentenceOf(run: HistoryEntry): string {
  if (run.kind === 'skip') return `It did not run: ${run.reason}.`;
  const on = `on ${run.node.acquirer}`;
  const { loss } = run;
  if (run.kind === 'running')
    return loss ? `It runs ${on}, without its permit: ${LOSS_WORDS[loss.reason]}.` : `It runs ${on}.`;
  const { outcome, took, attempts = 1 } = run;
  const after = `after ${formatDuration(took ?? 0)}${attempts > 1 ? ` and ${attempts} attempts` : ''}`;
  switch (outcome) {
    case 'ok':
      return `It ended well ${on}, ${after}.`;
    case 'failed':
      return `It failed ${on}, ${after}.`;
    case 'lost':
      return took === undefined
        ? `It lost its permit ${on}${loss ? `: ${LOSS_WORDS[loss.reason]}` : ''}. Its node no longer lives, and has written no end of it.`
        : `It ended ${on}, ${after}, without its permit${loss ? `: ${LOSS_WORDS[loss.reason]}` : ''}.`;
    case 'crashed':
      return `It began ${on}, which no longer lives and has written no end of it.`;
  }
}

function beginOf({ at, by, missed, node, token, slot }: Ran): StoryEntry {
  const permit = token === undefined ? 'without a permit' : `with slot ${slot}, token ${token}`;
  const cause =
    by === undefined
      ? missed === undefined
        ? []
        : ['makes up for the time that was missed']
      : [`run by hand, ${by} asked`];
  return { at, title: 'began', tone: 'accent', detail: [`on ${node.acquirer}`, permit, ...cause].join(', ') };
}

function changeOf({ at, action, by, reason }: AuditEntry): StoryEntry {
  const title = `${by}: ${action}`;
  return { at, title, tone: 'warning', ...(reason !== undefined && { detail: `“${reason}”` }) };
}

/** The last renewal of a permit that is held. */
function renewalOf(permit: HolderOverview | undefined): StoryEntry[] {
  const at = permit && lastRenewal(permit);
  return at === undefined ? [] : [{ at, title: 'permit renewed', detail: 'for the last time until now', tone: 'good' }];
}

function lastRenewal({ expiresAt, duration, grantedAt }: HolderOverview): number | undefined {
  const at = expiresAt - duration;
  return at > grantedAt ? at : undefined;
}

function lossOf(run: Ran): StoryEntry[] {
  const { loss } = run;
  const until = run.kind === 'running' ? undefined : run.until;
  if (loss) {
    const lost = { at: loss.at, title: 'lost its permit', detail: LOSS_WORDS[loss.reason], tone: 'warning' } as const;
    if (until === undefined) return [lost];
    const detail = 'no other run had it before, because the end of this one is not known';
    return [lost, { at: until, title: 'its permit expired', detail, tone: 'warning' }];
  }
  if (until === undefined) return [];
  return [{ at: until, title: 'its permit ended', detail: 'if not before: no later renewal is known', tone: 'bad' }];
}

const ENDS = {
  ok: { title: 'ended well', tone: 'good' },
  failed: { title: 'failed', tone: 'bad' },
  lost: { title: 'ended without its permit', tone: 'warning' },
} as const;

function endOf(run: Ran): StoryEntry | undefined {
  if (run.kind === 'running' || run.took === undefined || run.outcome === 'crashed') return undefined;
  const renewed = run.renewals === undefined ? [] : [`its permit was renewed ${count(run.renewals, 'time')}`];
  const detail = [`after ${formatDuration(run.took)}`, ...renewed].join(', ');
  return { at: run.at + run.took, ...ENDS[run.outcome], detail };
}
