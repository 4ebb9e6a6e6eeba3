import type { HistoryEntry } from '../api/answers.js';

/** ms around a run for which logs are shown. */
const MARGIN = 60_000;

/**
 * Fills the template of the console's option `logsUrl`. Values are encoded, so none can leave its place. The template
 * was checked by the server; the scheme is checked again, because the result becomes a link.
 *
 * @param now end of a run that goes on: cluster time in ms
 * @returns undefined if the result is no http address
 */
export function logLink(template: string, entry: HistoryEntry, now: number): string | undefined {
  const { semaphore, job, node, at } = entry;
  const end = entry.kind === 'run' && entry.took !== undefined ? at + entry.took : entry.kind === 'skip' ? at : now;
  const [from, to] = [at - MARGIN, end + MARGIN];
  const token = entry.kind === 'skip' ? undefined : entry.token;
  const values: Record<string, string | number | undefined> = {
    ...node,
    semaphore,
    job,
    token,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    fromMs: from,
    toMs: to,
  };
  const href = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
  return /^https?:\/\//i.test(href) ? href : undefined;
}
