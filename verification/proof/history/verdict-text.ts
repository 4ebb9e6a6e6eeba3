import type { Verdict } from './check-history.js';
import type { Distribution } from './distribution.js';
import { formatMs } from './format.js';

/** How many violations are printed in full. */
const MOST_TOLD = 20;

/** A verdict as people read it: the figures, then each violation with the entries around it. */
export function verdictText({ figures, violations }: Verdict): string {
  const { entries, span, grants, refreshes, releases, denials, failures, overlaps, writes, takeovers } = figures;
  const told = violations
    .slice(0, MOST_TOLD)
    .map(({ rule, text, around }) => [`${rule} ${text}`, ...around.map((line) => `     ${line}`)].join('\n'));
  const untold = violations.length - told.length;
  return [
    `${entries} entries over ${(span / 1000).toFixed(1)} s: ${grants} grants, ${refreshes} refreshes, ${releases} releases`,
    `denials: ${counts(denials)}; failures: ${counts(failures)}`,
    `overlaps: ${overlaps}; writes: ${writes.applied} applied, stale ones ${writes.staleRefused} refused and ${writes.staleApplied} applied`,
    `takeovers after death or freezing: ${spread(takeovers)}; not judged: ${takeovers.unjudged}`,
    `holders learnt of the end after: ${spread(figures.toldLate)}; stalls: ${figures.stalls}`,
    violations.length === 0 ? 'no promise was broken' : `${violations.length} violations:`,
    ...told,
    ...(untold > 0 ? [`and ${untold} more`] : []),
  ].join('\n');
}

function counts(of: Readonly<Record<string, number>>): string {
  const list = Object.entries(of).map(([what, count]) => `${count} ${what}`);
  return list.length > 0 ? list.join(', ') : 'none';
}

function spread({ count, median, p99, max }: Distribution): string {
  if (median === undefined || p99 === undefined || max === undefined) return 'none';
  return `${count}, median ${formatMs(median)}, p99 ${formatMs(p99)}, at most ${formatMs(max)}`;
}
